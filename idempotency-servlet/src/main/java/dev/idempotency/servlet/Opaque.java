package dev.idempotency.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Keeps Tomcat from reaching through the held response to its own.
 *
 * <p>Tomcat 11 ends its own response at the end of a forward, however many wrappers lie above it, and puts what ignores
 * the status set by an included resource beneath the wrappers. Both are right for wrappers that pass everything on, and
 * wrong for one that holds everything back. A response that is no wrapper is treated as the last one. Other containers
 * insist on wrappers, and get one.
 */
final class Opaque {
    private static final String CATALINA = "org.apache.catalina.";

    private Opaque() {}

    /** Returns what the chain is given in the place of the held response. */
    static HttpServletResponse shield(HeldResponse held, HttpServletResponse target) {
        if (!innermost(target).getClass().getName().startsWith(CATALINA)) {
            return held;
        }
        return (HttpServletResponse) Proxy.newProxyInstance(
                Opaque.class.getClassLoader(),
                new Class<?>[] {HttpServletResponse.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> {
                        try {
                            yield method.invoke(held, arguments);
                        } catch (InvocationTargetException e) {
                            throw thrown(e);
                        }
                    }
                });
    }

    private static Throwable thrown(InvocationTargetException carrier) {
        @Nullable Throwable cause = carrier.getCause();
        return cause == null ? carrier : cause;
    }

    private static ServletResponse innermost(ServletResponse response) {
        ServletResponse current = response;
        while (current instanceof ServletResponseWrapper wrapper) {
            current = wrapper.getResponse();
        }
        return current;
    }
}
