package dev.idempotency.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.Servlet;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** Tomcat 11. */
final class TomcatServer implements ServletServer {
    private static final Logger LOG = Logger.getLogger("org.apache");

    private final Tomcat tomcat = new Tomcat();
    private final Path folder;

    TomcatServer(List<Filter> filters, Map<String, Servlet> servlets) throws IOException, LifecycleException {
        // The tests break things on purpose, and the container reports each of them at length.
        LOG.setLevel(Level.OFF);
        folder = Files.createTempDirectory("idempotency-tomcat-");
        tomcat.setBaseDir(folder.toString());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("maxThreads", "300");
        tomcat.getConnector().setProperty("acceptCount", "500");
        tomcat.getConnector().setProperty("compression", "on");
        Context context = tomcat.addContext("", folder.toString());
        for (int i = 0; i < filters.size(); i++) {
            add(context, "filter-" + i, filters.get(i));
        }
        servlets.forEach((path, servlet) -> {
            Wrapper wrapper = Tomcat.addServlet(context, path, servlet);
            wrapper.setAsyncSupported(true);
            wrapper.setMultipartConfigElement(new MultipartConfigElement("", TestLimits.PART, TestLimits.PARTS, 1024));
            wrapper.addMapping(path);
        });
        if (servlets.containsKey(ErrorPage.MAPPING)) {
            ErrorPage.STATUSES.forEach(status -> addErrorPage(context, page -> page.setErrorCode(status)));
            addErrorPage(context, page -> page.setExceptionType(ErrorPage.MappedException.class.getName()));
        }
        tomcat.start();
        if (!context.getState().isAvailable()) {
            close();
            throw new IllegalStateException("The context did not start");
        }
    }

    private static void addErrorPage(
            Context context, Consumer<org.apache.tomcat.util.descriptor.web.ErrorPage> condition) {
        var page = new org.apache.tomcat.util.descriptor.web.ErrorPage();
        page.setLocation(ErrorPage.PATH);
        condition.accept(page);
        context.addErrorPage(page);
    }

    private static void add(Context context, String name, Filter filter) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(name);
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        FilterMap mapping = new FilterMap();
        mapping.setFilterName(name);
        mapping.addURLPattern("/*");
        mapping.setDispatcher("REQUEST");
        mapping.setDispatcher("ASYNC");
        mapping.setDispatcher("ERROR");
        context.addFilterMap(mapping);
    }

    @Override
    public URI uri(String path) {
        return URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
    }

    @Override
    public void close() throws LifecycleException, IOException {
        tomcat.stop();
        tomcat.destroy();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
