package dev.idempotency.servlet;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.State;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Answers the liveness probe of a platform, beside {@link ReadinessServlet}.
 *
 * <p>GET and HEAD get 200 as long as the container answers at all, also during the whole shutdown: a platform kills
 * what fails this probe, and would so cut off the work that is being finished. The body is the {@link State}.
 *
 * <p>Thread-safe.
 */
public final class LivenessServlet extends ProbeServlet {
    private LivenessServlet(GracefulShutdown shutdown) {
        super(shutdown);
    }

    /**
     * Returns a servlet that says that the process is alive.
     *
     * @param shutdown the application's shutdown, for the text of the answer
     * @return the servlet
     */
    public static LivenessServlet of(GracefulShutdown shutdown) {
        return new LivenessServlet(shutdown);
    }

    @Override
    int status(State state) {
        return HttpServletResponse.SC_OK;
    }
}
