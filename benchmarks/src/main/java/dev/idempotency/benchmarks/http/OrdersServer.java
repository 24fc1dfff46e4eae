package dev.idempotency.benchmarks.http;

import dev.idempotency.Idempotency;
import dev.idempotency.benchmarks.database.CountingDataSource;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.servlet.IdempotencyFilter;
import dev.idempotency.transaction.JoiningDataSource;
import jakarta.servlet.DispatcherType;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import javax.sql.DataSource;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** One Jetty with the same servlet three times: alone, behind the filter, and behind the filter with a counter. */
final class OrdersServer implements AutoCloseable {
    static final String BARE = "/bare";
    static final String GUARDED = "/guarded";
    static final String COUNTED = "/counted";

    private final Server server;
    private final ServerConnector connector;
    private final CountingDataSource counter;
    private volatile SlowRequest slow = new SlowRequest(Duration.ZERO);

    OrdersServer(DataSource pool) throws Exception {
        counter = CountingDataSource.of(pool);
        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new OrdersServlet(pool, true, () -> slow)), BARE);
        addGuarded(context, GUARDED, pool);
        addGuarded(context, COUNTED, counter.dataSource());
        server = new Server();
        connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
    }

    private void addGuarded(ServletContextHandler context, String path, DataSource pool) {
        JoiningDataSource dataSource = JoiningDataSource.of(pool);
        Idempotency idempotency = Idempotency.builder()
                .transactional(JdbiIdempotencyStore.of(dataSource), JdbiTransactionRunner.of(dataSource))
                .build();
        context.addFilter(
                new FilterHolder(IdempotencyFilter.builder(idempotency).build()),
                path,
                EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new OrdersServlet(dataSource, false, () -> slow)), path);
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + connector.getLocalPort() + path);
    }

    /** Counts what the requests to {@link #COUNTED} do on the database. */
    CountingDataSource counter() {
        return counter;
    }

    /** Says what the next slow request does. */
    void expectSlow(SlowRequest request) {
        slow = request;
    }

    @Override
    public void close() throws Exception {
        server.stop();
    }
}
