package dev.idempotency.shutdown;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.Objects;

/**
 * Answers the readiness probe of a platform on the JDK's own HTTP server; applications put it under a path of theirs.
 *
 * <p>GET and HEAD get 200 while the application takes requests and 503 from {@link Phase#ANNOUNCE} on, that is, as soon
 * as {@link GracefulShutdown#shutdown} has been called. The body is the {@link State}, for people.
 *
 * <p>The server has to outlive the drain, or the probe gets no answer where it should get 503. So stop it in
 * {@link Phase#CLOSE}, and register that before everything else that is closed, so that it is closed last:
 *
 * <pre>{@code
 * HttpServer probes = HttpServer.create(new InetSocketAddress(8081), 0);
 * probes.createContext("/ready", ReadinessHandler.of(shutdown));
 * probes.createContext("/live", LivenessHandler.of(shutdown));
 * shutdown.on(Phase.CLOSE, "probes", deadline -> probes.stop(0));
 * // … everything else is opened, registered and started …
 * probes.start();
 * }</pre>
 *
 * <p>Start it last: before, the application is not ready, and the server's thread would keep a process alive that could
 * not start.
 *
 * <p>Thread-safe.
 */
public final class ReadinessHandler implements HttpHandler {
    private static final int READY = 200;
    private static final int NOT_READY = 503;

    private final GracefulShutdown shutdown;

    private ReadinessHandler(GracefulShutdown shutdown) {
        this.shutdown = shutdown;
    }

    /**
     * Returns a handler that tells whether this shutdown has begun.
     *
     * @param shutdown the application's shutdown
     * @return the handler
     */
    public static ReadinessHandler of(GracefulShutdown shutdown) {
        return new ReadinessHandler(Objects.requireNonNull(shutdown, "shutdown"));
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        State state = shutdown.state();
        Probe.answer(exchange, state == State.RUNNING ? READY : NOT_READY, state);
    }
}
