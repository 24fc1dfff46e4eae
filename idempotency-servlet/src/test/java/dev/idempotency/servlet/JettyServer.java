package dev.idempotency.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.Servlet;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.ee10.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty 12. */
final class JettyServer implements ServletServer {
    private final Server server = new Server(new QueuedThreadPool(300));
    private final ServerConnector connector = new ServerConnector(server, 1, 1);

    JettyServer(List<Filter> filters, Map<String, Servlet> servlets) throws Exception {
        connector.setHost("127.0.0.1");
        connector.setAcceptQueueSize(500);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        for (Filter filter : filters) {
            FilterHolder holder = new FilterHolder(filter);
            holder.setAsyncSupported(true);
            context.addFilter(
                    holder, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR));
        }
        servlets.forEach((path, servlet) -> {
            ServletHolder holder = new ServletHolder(servlet);
            holder.setAsyncSupported(true);
            holder.getRegistration()
                    .setMultipartConfig(new MultipartConfigElement("", TestLimits.PART, TestLimits.PARTS, 1024));
            context.addServlet(holder, path);
        });
        if (servlets.containsKey(ErrorPage.MAPPING)) {
            ErrorPageErrorHandler pages = new ErrorPageErrorHandler();
            ErrorPage.STATUSES.forEach(status -> pages.addErrorPage(status, ErrorPage.PATH));
            pages.addErrorPage(ErrorPage.MappedException.class, ErrorPage.PATH);
            context.setErrorHandler(pages);
        }
        server.setHandler(compressing(context));
        server.start();
    }

    @SuppressWarnings({"deprecation", "removal"}) // its successor would be one more module for one test
    private static Handler compressing(Handler handler) {
        GzipHandler gzip = new GzipHandler();
        gzip.addIncludedMethods("POST");
        gzip.setHandler(handler);
        return gzip;
    }

    @Override
    public URI uri(String path) {
        return URI.create("http://127.0.0.1:" + connector.getLocalPort() + path);
    }

    @Override
    public void close() throws Exception {
        server.stop();
    }
}
