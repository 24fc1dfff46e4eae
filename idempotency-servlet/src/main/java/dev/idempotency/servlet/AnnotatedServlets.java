package dev.idempotency.servlet;

import dev.idempotency.Idempotent;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds {@link Idempotent} on the servlets that requests are mapped to; each servlet is looked at once. */
final class AnnotatedServlets {
    private static final Logger log = LoggerFactory.getLogger(AnnotatedServlets.class);

    private static final Map<String, String> HANDLERS =
            Map.of("doPost", "POST", "doPut", "PUT", "doPatch", "PATCH", "doDelete", "DELETE");

    /** RFC 9110, section 9.2.1. */
    private static final List<String> SAFE_HANDLERS = List.of("doGet", "doHead", "doOptions", "doTrace");

    private final BiFunction<Idempotent, String, RequestPlan> reader;
    private final Map<String, Plans> byServlet = new ConcurrentHashMap<>();

    AnnotatedServlets(BiFunction<Idempotent, String, RequestPlan> reader) {
        this.reader = reader;
    }

    /** The plan of the class, and those of the methods that have one of their own, by HTTP method. */
    record Plans(@Nullable RequestPlan ofClass, Map<String, RequestPlan> ofMethods) {
        private static final Plans NONE = new Plans(null, Map.of());

        boolean isEmpty() {
            return ofClass == null && ofMethods.isEmpty();
        }
    }

    /**
     * Reads all servlets that are registered now, so that a wrong annotation fails at the start.
     *
     * @return false if it is certain that none has an annotation
     */
    boolean readAll(ServletContext context) {
        boolean any = false;
        for (ServletRegistration registration :
                context.getServletRegistrations().values()) {
            try {
                any |= !plans(context, registration).isEmpty();
            } catch (IllegalStateException e) {
                // Registered, but perhaps never asked: if it is, the same happens to the request.
                log.debug("A servlet was not looked at", e);
                any = true;
            }
        }
        return any;
    }

    /**
     * The plans of the servlet that the request is mapped to.
     *
     * @throws IllegalStateException if its class cannot be loaded: whether it is to be protected is not known then
     */
    Plans of(HttpServletRequest request) {
        String name = Optional.ofNullable(request.getHttpServletMapping())
                .map(mapping -> mapping.getServletName())
                .orElse("");
        Plans known = byServlet.get(name);
        if (known != null) {
            return known;
        }
        ServletRegistration registration =
                name.isEmpty() ? null : request.getServletContext().getServletRegistration(name);
        return registration == null ? Plans.NONE : plans(request.getServletContext(), registration);
    }

    private Plans plans(ServletContext context, ServletRegistration registration) {
        return byServlet.computeIfAbsent(
                registration.getName(), name -> plans(context, name, registration.getClassName()));
    }

    /** A page (JSP) that is registered as a servlet has no class of its own, and so no annotation. */
    private Plans plans(ServletContext context, String servlet, @Nullable String className) {
        return className == null ? Plans.NONE : read(load(context, servlet, className));
    }

    private static Class<?> load(ServletContext context, String servlet, String className) {
        for (ClassLoader loader : new ClassLoader[] {
            context.getClassLoader(),
            Thread.currentThread().getContextClassLoader(),
            AnnotatedServlets.class.getClassLoader()
        }) {
            try {
                return Class.forName(className, false, loader);
            } catch (ClassNotFoundException | LinkageError e) {
                log.trace("{} does not know {}", loader, className, e);
            }
        }
        throw new IllegalStateException("The class " + className + " of the servlet " + servlet
                + " cannot be loaded, so it is not known whether it has @Idempotent");
    }

    Plans read(Class<?> servlet) {
        for (String handler : SAFE_HANDLERS) {
            if (annotation(servlet, handler) != null) {
                throw new IllegalArgumentException("@Idempotent on " + servlet.getName() + "." + handler
                        + " is in the wrong place: such requests are safe to repeat as they are");
            }
        }
        Idempotent onClass = servlet.getAnnotation(Idempotent.class);
        Map<String, RequestPlan> ofMethods = new LinkedHashMap<>();
        HANDLERS.forEach((handler, method) -> {
            Idempotent onMethod = annotation(servlet, handler);
            if (onMethod != null) {
                ofMethods.put(method, reader.apply(onMethod, servlet.getName() + "." + handler));
            }
        });
        return new Plans(onClass == null ? null : reader.apply(onClass, servlet.getName()), Map.copyOf(ofMethods));
    }

    /** The annotation of the method that runs: one that is overridden does not count. */
    private static @Nullable Idempotent annotation(Class<?> servlet, String handler) {
        for (Class<?> type = servlet; type != null; type = type.getSuperclass()) {
            try {
                Method method = type.getDeclaredMethod(handler, HttpServletRequest.class, HttpServletResponse.class);
                return method.getAnnotation(Idempotent.class);
            } catch (NoSuchMethodException e) {
                log.trace("{} has no {} of its own", type, handler.toLowerCase(Locale.ROOT));
            }
        }
        return null;
    }
}
