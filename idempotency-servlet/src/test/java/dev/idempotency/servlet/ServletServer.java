package dev.idempotency.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** A real servlet container on a free port; one subclass per container. */
interface ServletServer extends AutoCloseable {
    /** Starts the container with the filters, in order and for requests and re-dispatches, before all servlets. */
    interface Starter {
        ServletServer start(List<Filter> filters, Map<String, Servlet> servlets) throws Exception;
    }

    URI uri(String path);

    @Override
    void close() throws Exception;
}
