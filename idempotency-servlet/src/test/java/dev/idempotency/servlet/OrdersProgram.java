package dev.idempotency.servlet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Idempotency;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.transaction.JoiningDataSource;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.UUID;
import javax.sql.DataSource;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Takes orders in a process of its own, on Jetty, HikariCP and PostgreSQL; started and signalled by {@code SigtermIT}.
 *
 * <p>Says {@code PORT n} when it takes requests, and {@code DRAINED} when nothing is in flight any more; it then closes
 * at once, or when it is told to.
 */
final class OrdersProgram {
    private OrdersProgram() {}

    /** Takes the URL of the database, whether to wait for a line of input before closing, and the grace period. */
    public static void main(String[] arguments) throws Exception {
        boolean waits = Boolean.parseBoolean(arguments[1]);
        GracefulShutdown shutdown = GracefulShutdown.builder()
                .grace(Duration.parse(arguments[2]))
                .closeReserve(Duration.ofSeconds(1))
                .build();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[0]);
        config.setMaximumPoolSize(8);
        HikariDataSource pool = new HikariDataSource(config);
        shutdown.on(Phase.CLOSE, "pool", deadline -> pool.close());
        shutdown.watch("pool", pool::isClosed);

        JoiningDataSource joining = JoiningDataSource.of(pool);
        Idempotency idempotency = Idempotency.builder()
                .transactional(JdbiIdempotencyStore.of(joining), JdbiTransactionRunner.of(joining))
                .shutdown(shutdown)
                .build();
        ServletContextHandler context = new ServletContextHandler();
        context.addFilter(
                new FilterHolder(IdempotencyFilter.builder(idempotency).build()),
                "/orders",
                EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new Orders(joining)), "/orders");
        context.addServlet(new ServletHolder(ReadinessServlet.of(shutdown)), "/ready");
        context.addServlet(new ServletHolder(LivenessServlet.of(shutdown)), "/live");
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        shutdown.on(Phase.CLOSE, "server", deadline -> server.stop());
        shutdown.on(Phase.RELEASE, "tell", deadline -> {
            System.out.println("DRAINED");
            if (waits) {
                System.in.read();
            }
        });
        shutdown.ownJvmShutdown("orders");
        System.out.println("PORT " + connector.getLocalPort());
    }

    /** Inserts an order after as long a while in the database as the request asks for. */
    private static final class Orders extends HttpServlet {
        private final transient DataSource dataSource;

        Orders(DataSource dataSource) {
            this.dataSource = dataSource;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String id = UUID.randomUUID().toString();
            try (Connection connection = dataSource.getConnection();
                    PreparedStatement statement = connection.prepareStatement(
                            "INSERT INTO orders (id, request_key) SELECT ?, ? FROM pg_sleep(?)")) {
                statement.setString(1, id);
                statement.setString(2, request.getHeader("Idempotency-Key"));
                statement.setDouble(3, Integer.parseInt(request.getParameter("millis")) / 1000.0);
                statement.executeUpdate();
            } catch (SQLException e) {
                throw new IOException(e);
            }
            response.setStatus(201);
            response.getWriter().print(id);
        }
    }
}
