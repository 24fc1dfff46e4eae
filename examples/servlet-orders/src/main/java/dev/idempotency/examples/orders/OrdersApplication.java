package dev.idempotency.examples.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Idempotency;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.servlet.IdempotencyFilter;
import dev.idempotency.servlet.LivenessServlet;
import dev.idempotency.servlet.ReadinessServlet;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.transaction.JoiningDataSource;
import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.jdbi.v3.core.Jdbi;

/** Takes orders over HTTP, once per Idempotency-Key, on plain Jetty, HikariCP and Jdbi. */
public final class OrdersApplication {
    private final ServerConnector connector;

    private OrdersApplication(ServerConnector connector) {
        this.connector = connector;
    }

    /**
     * Runs the application until a signal ends it.
     *
     * @param arguments the JDBC URL of a PostgreSQL and the port
     * @throws Exception if it could not start
     */
    public static void main(String[] arguments) throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        start(arguments[0], Integer.parseInt(arguments[1]), shutdown);
        // The one owner of SIGTERM and SIGINT, claimed when everything is registered.
        shutdown.ownJvmShutdown("orders");
    }

    static OrdersApplication start(String jdbcUrl, int port, GracefulShutdown shutdown) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        HikariDataSource pool = new HikariDataSource(config);
        // Registered first, closed last.
        shutdown.on(Phase.CLOSE, "connection pool", deadline -> pool.close());

        // Everything that writes gets this one and not the pool: so it takes part in the transaction of the key.
        JoiningDataSource dataSource = JoiningDataSource.of(pool);
        SchemaInstaller.of(dataSource).install();
        Jdbi jdbi = Jdbi.create(dataSource);
        OrdersServlet.createTable(jdbi);

        Idempotency idempotency = Idempotency.builder()
                .transactional(JdbiIdempotencyStore.of(dataSource), JdbiTransactionRunner.of(dataSource))
                .shutdown(shutdown)
                .build();

        ServletContextHandler context = new ServletContextHandler();
        context.addFilter(
                new FilterHolder(IdempotencyFilter.builder(idempotency).build()),
                "/orders",
                EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new OrdersServlet(jdbi)), "/orders");
        context.addServlet(new ServletHolder(ReadinessServlet.of(shutdown)), "/ready");
        context.addServlet(new ServletHolder(LivenessServlet.of(shutdown)), "/live");

        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        shutdown.on(Phase.CLOSE, "web server", deadline -> server.stop());
        return new OrdersApplication(connector);
    }

    int port() {
        return connector.getLocalPort();
    }
}
