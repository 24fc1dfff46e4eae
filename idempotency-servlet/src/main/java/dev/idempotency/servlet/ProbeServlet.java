package dev.idempotency.servlet;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.State;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Objects;

/** What both probes answer: a status that means something, and the state for people who look. */
abstract sealed class ProbeServlet extends HttpServlet permits ReadinessServlet, LivenessServlet {
    private final transient GracefulShutdown shutdown;

    ProbeServlet(GracefulShutdown shutdown) {
        this.shutdown = Objects.requireNonNull(shutdown, "shutdown");
    }

    abstract int status(State state);

    /** For HEAD too, whose answer the container cuts. */
    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        State state = shutdown.state();
        response.setStatus(status(state));
        response.setContentType("text/plain;charset=us-ascii");
        response.setHeader("Cache-Control", "no-store");
        response.getOutputStream().println(state.name());
    }
}
