package dev.idempotency.examples.chain.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Idempotency;
import dev.idempotency.examples.chain.service.ServiceSettings;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.servlet.IdempotencyFilter;
import dev.idempotency.servlet.LivenessServlet;
import dev.idempotency.servlet.ReadinessServlet;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.transaction.JoiningDataSource;
import jakarta.servlet.DispatcherType;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Map;
import javax.sql.DataSource;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.jdbi.v3.core.Jdbi;

/** The order service with the library: one transaction for the key, the order, the event and the answer. */
final class GuardedOrderService {
    private GuardedOrderService() {}

    /**
     * Starts the service and takes over SIGTERM.
     *
     * @param settings where database and broker are
     * @return the port
     */
    static int start(ServiceSettings settings) throws Exception {
        GracefulShutdown shutdown = settings.newShutdown();
        JoiningDataSource dataSource = JoiningDataSource.of(openPool(settings, shutdown));

        JdbiOutboxStore outboxStore = JdbiOutboxStore.of(dataSource);
        OutboxRelay relay = startRelay(settings, outboxStore, shutdown);
        // The nudge: an order's event leaves as soon as the order is committed, not at the relay's next look.
        Outbox outbox = Outbox.builder(outboxStore)
                .afterCommit(relay::nudge)
                .clock(settings.wallClock())
                .build();

        Server server = startWeb(dataSource, outbox, settings.wallClock(), shutdown);
        shutdown.ownJvmShutdown("order service");
        return Web.port(server);
    }

    private static HikariDataSource openPool(ServiceSettings settings, GracefulShutdown shutdown) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.jdbcUrl());
        config.setMaximumPoolSize(16);
        HikariDataSource pool = new HikariDataSource(config);
        // Registered first, closed last.
        shutdown.on(Phase.CLOSE, "connection pool", deadline -> pool.close());
        shutdown.watch("connection pool", pool::isClosed);
        return pool;
    }

    private static OutboxRelay startRelay(ServiceSettings settings, JdbiOutboxStore store, GracefulShutdown shutdown) {
        // Shorter than the defaults, because a killed relay's lease has to run out before another sends its events,
        // and this one is killed every few seconds.
        KafkaOutboxPublisher publisher = KafkaOutboxPublisher.of(Map.of(
                "bootstrap.servers", settings.kafka(),
                "request.timeout.ms", 1000,
                "delivery.timeout.ms", 1500,
                "max.block.ms", 250));
        shutdown.on(Phase.CLOSE, "publisher", deadline -> publisher.close());
        OutboxRelay relay = OutboxRelay.leasing(store, publisher)
                .name("orders")
                .lease(publisher.deliveryTimeout().plus(Duration.ofMillis(2500)))
                .shutdown(shutdown)
                .build();
        relay.start();
        return relay;
    }

    private static Server startWeb(DataSource dataSource, Outbox outbox, InstantSource clock, GracefulShutdown shutdown)
            throws Exception {
        Idempotency idempotency = Idempotency.builder()
                .transactional(JdbiIdempotencyStore.of(dataSource), JdbiTransactionRunner.of(dataSource))
                .shutdown(shutdown)
                .build();
        ServletContextHandler context = new ServletContextHandler();
        context.addFilter(
                new FilterHolder(IdempotencyFilter.builder(idempotency).build()),
                "/orders",
                EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new OrdersServlet(Jdbi.create(dataSource), outbox, clock)), "/orders");
        context.addServlet(new ServletHolder(ReadinessServlet.of(shutdown)), "/ready");
        context.addServlet(new ServletHolder(LivenessServlet.of(shutdown)), "/live");
        Server server = Web.start(context);
        shutdown.on(Phase.CLOSE, "web server", deadline -> server.stop());
        return server;
    }
}
