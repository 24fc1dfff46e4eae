package dev.idempotency.servlet;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The application's page for some errors, rendered by the container's error dispatch; tells what it was given. */
class ErrorPage extends HttpServlet {
    static final String MAPPING = "/errors/*";
    static final String PATH = "/errors/page";
    static final List<Integer> STATUSES = List.of(410, 507);

    private final AtomicInteger rendered = new AtomicInteger();

    /** An exception that has a page. */
    static final class MappedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        response.getWriter()
                .print("page " + rendered.incrementAndGet() + " of " + request.getDispatcherType() + " "
                        + request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE)
                        + " " + request.getAttribute(RequestDispatcher.ERROR_MESSAGE)
                        + ", handle " + IdempotentRequest.of(request).isPresent());
    }
}
