package dev.idempotency.servlet;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.State;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Answers the readiness probe of a platform; applications put it under a path of theirs, outside of the filter.
 *
 * <p>GET and HEAD get 200 while the application takes requests and 503 from {@link Phase#ANNOUNCE} on, that is, as soon
 * as {@link GracefulShutdown#shutdown} has been called. The body is the {@link State}, for people. The container has to
 * outlive the drain: stop it in {@link Phase#CLOSE}.
 *
 * <p>Thread-safe.
 */
public final class ReadinessServlet extends ProbeServlet {
    private ReadinessServlet(GracefulShutdown shutdown) {
        super(shutdown);
    }

    /**
     * Returns a servlet that tells whether this shutdown has begun.
     *
     * @param shutdown the application's shutdown
     * @return the servlet
     */
    public static ReadinessServlet of(GracefulShutdown shutdown) {
        return new ReadinessServlet(shutdown);
    }

    @Override
    int status(State state) {
        return state == State.RUNNING ? HttpServletResponse.SC_OK : HttpServletResponse.SC_SERVICE_UNAVAILABLE;
    }
}
