package dev.idempotency.examples.relay;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import java.util.Map;

/** A relay as a process of its own: it publishes what applications have committed to the outbox of their database. */
public final class RelayApplication {
    private RelayApplication() {}

    /**
     * Runs the relay until a signal ends it. Any number may run beside each other.
     *
     * @param arguments the JDBC URL of the database, and the broker's {@code bootstrap.servers}
     */
    public static void main(String[] arguments) {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        start(arguments[0], arguments[1], shutdown);
        shutdown.ownJvmShutdown("relay");
    }

    static OutboxRelay start(String jdbcUrl, String bootstrapServers, GracefulShutdown shutdown) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(4);
        HikariDataSource pool = new HikariDataSource(config);
        // Registered first, closed last.
        shutdown.on(Phase.CLOSE, "connection pool", deadline -> pool.close());
        SchemaInstaller.of(pool).install();

        KafkaOutboxPublisher publisher = KafkaOutboxPublisher.of(Map.of("bootstrap.servers", bootstrapServers));
        shutdown.on(Phase.CLOSE, "publisher", deadline -> publisher.close());
        OutboxRelay relay = OutboxRelay.leasing(JdbiOutboxStore.of(pool), publisher)
                .name("shop")
                .shutdown(shutdown)
                .build();
        relay.start();
        return relay;
    }
}
