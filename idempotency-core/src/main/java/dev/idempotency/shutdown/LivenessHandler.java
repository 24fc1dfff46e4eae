package dev.idempotency.shutdown;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.Objects;

/**
 * Answers the liveness probe of a platform on the JDK's own HTTP server, beside {@link ReadinessHandler}.
 *
 * <p>GET and HEAD get 200 as long as the server answers at all, also during the whole shutdown: a platform kills what
 * fails this probe, and would so cut off the work that is being finished. The body is the {@link State}, for people.
 *
 * <p>Thread-safe.
 */
public final class LivenessHandler implements HttpHandler {
    private static final int ALIVE = 200;

    private final GracefulShutdown shutdown;

    private LivenessHandler(GracefulShutdown shutdown) {
        this.shutdown = shutdown;
    }

    /**
     * Returns a handler that says that the process is alive.
     *
     * @param shutdown the application's shutdown, for the text of the answer
     * @return the handler
     */
    public static LivenessHandler of(GracefulShutdown shutdown) {
        return new LivenessHandler(Objects.requireNonNull(shutdown, "shutdown"));
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        Probe.answer(exchange, ALIVE, shutdown.state());
    }
}
