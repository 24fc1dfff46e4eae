package dev.idempotency.examples.orders;

import dev.idempotency.shutdown.GracefulShutdown;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** Tells the platform whether to send requests here: no longer once the shutdown has begun. */
final class ReadinessServlet extends HttpServlet {
    private final transient GracefulShutdown shutdown;

    ReadinessServlet(GracefulShutdown shutdown) {
        this.shutdown = shutdown;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        response.setStatus(shutdown.ready() ? HttpServletResponse.SC_OK : HttpServletResponse.SC_SERVICE_UNAVAILABLE);
    }
}
