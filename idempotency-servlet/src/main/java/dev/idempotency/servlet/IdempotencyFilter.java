package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import dev.idempotency.Idempotent;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs a request with an {@code Idempotency-Key} once, and gives every repeat the first answer; applications register it
 * after authentication and before dispatch, for the dispatcher types {@code REQUEST} and {@code ASYNC}.
 *
 * <p>Under {@link dev.idempotency.Protection#TRANSACTIONAL} a client sees a success only if the effect and its record
 * are committed. Nothing the chain writes reaches the client before. Under {@link dev.idempotency.Protection#LEASED}
 * the record is written before the answer goes out, whichever thread gives it. Safe for use by many threads.
 */
public final class IdempotencyFilter implements Filter {
    /** RFC 9110, section 9.2.1. */
    static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

    private final FilterSettings settings;
    private final Answers answers;
    private final AnnotatedServlets annotated;

    IdempotencyFilter(FilterSettings settings) {
        this.settings = settings;
        this.answers = new Answers(settings);
        this.annotated = new AnnotatedServlets(this::read);
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param idempotency the engine that runs the operations
     * @return the builder
     */
    public static IdempotencyFilterBuilder builder(Idempotency idempotency) {
        return new IdempotencyFilterBuilder(idempotency);
    }

    /**
     * Reads the annotations of the servlets that are registered by now.
     *
     * @param config the container's configuration
     * @throws ServletException if an annotation cannot be kept: a protection that the engine has no store for, a
     *     retention that is no duration, a method that is safe to repeat as it is; or if only annotated servlets are to
     *     be guarded and there is none
     */
    @Override
    public void init(FilterConfig config) throws ServletException {
        try {
            boolean any = annotated.readAll(config.getServletContext());
            if (settings.annotatedOnly() && !any) {
                throw new IllegalArgumentException("The filter is to guard annotated servlets only, and none of the"
                        + " servlets that are registered now has @Idempotent: it would guard nothing. Annotate a servlet"
                        + " or take annotatedServletsOnly() out");
            }
        } catch (IllegalArgumentException e) {
            throw new ServletException(e.getMessage(), e);
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        LeasedExchange begun = request.getDispatcherType() == DispatcherType.ASYNC ? LeasedExchange.of(request) : null;
        if (begun != null) {
            begun.dispatch(chain, request, response);
            return;
        }
        RequestPlan plan = null;
        if (request.getDispatcherType() == DispatcherType.REQUEST
                && request instanceof HttpServletRequest httpRequest
                && response instanceof HttpServletResponse httpResponse) {
            plan = plan(httpRequest);
            if (plan != null) {
                new Exchange(settings, answers, plan, httpRequest, httpResponse, chain).run();
            }
        }
        if (plan == null) {
            chain.doFilter(request, response);
        }
    }

    private @Nullable RequestPlan plan(HttpServletRequest request) {
        if (SAFE_METHODS.contains(request.getMethod())) {
            // No option names them and no annotation stands on them, so the servlet's class is none of our business.
            return null;
        }
        AnnotatedServlets.Plans plans = annotated.of(request);
        RequestPlan ofMethod = plans.ofMethods().get(request.getMethod());
        if (ofMethod == null && !settings.methods().contains(request.getMethod())) {
            return null;
        }
        RequestPlan plan = ofMethod == null ? plans.ofClass() : ofMethod;
        if (plan == null && settings.annotatedOnly()) {
            return null;
        }
        if (!settings.requests().test(request)) {
            return null;
        }
        return Optional.ofNullable(plan).orElse(settings.plan());
    }

    private RequestPlan read(Idempotent annotation, String place) {
        RequestPlan plan = RequestPlan.of(annotation, place, settings.plan().retention());
        if (!settings.idempotency().protections().contains(plan.protection())) {
            throw new IllegalArgumentException("@Idempotent on " + place + " asks for " + plan.protection()
                    + ", but the engine holds only " + settings.idempotency().protections()
                    + ": give it a store that can, or choose another protection");
        }
        return plan;
    }
}
