package dev.idempotency.examples.billing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.client.IdempotentHttpClient;
import dev.idempotency.client.ProviderFormat;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Phase;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jdbi.v3.core.Jdbi;

/** Charges each order of a topic once, at a payment provider, and writes its invoice. */
public final class BillingApplication {
    private static final String NAME = "billing";

    private BillingApplication() {}

    /**
     * Runs the application until a signal ends it.
     *
     * @param arguments the JDBC URL of a PostgreSQL, the broker's {@code bootstrap.servers}, the provider's address
     */
    public static void main(String[] arguments) {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        start(arguments[0], arguments[1], URI.create(arguments[2]), shutdown);
        shutdown.ownJvmShutdown(NAME);
    }

    static IdempotentConsumer<String, byte[]> start(
            String jdbcUrl, String bootstrapServers, URI provider, GracefulShutdown shutdown) {
        DataSource pool = openPool(jdbcUrl, shutdown);
        SchemaInstaller.of(pool).install();
        Billing.createTable(Jdbi.create(pool));
        Billing billing = new Billing(new Payments(openClient(shutdown), provider));

        IdempotentConsumer<String, byte[]> consumer = IdempotentConsumer.<String, byte[]>builder()
                // The name under which the database remembers: never change it, or all events are new.
                .consumer(ConsumerId.of(NAME))
                .topics(OrderPlaced.TOPIC)
                .properties(Map.of("bootstrap.servers", bootstrapServers))
                .deserializers(new StringDeserializer(), new ByteArrayDeserializer())
                .store(JdbiEventStore.of(pool))
                .transactions(JdbiTransactionRunner.of(pool))
                // The application's name separates its keys from those of others that call the same provider.
                .keys(KeyDerivation.of("billing-example"))
                // One transaction per record, because the handler calls another system.
                .handler(TransactionScope.PER_EVENT, billing::bill)
                .shutdown(shutdown)
                .build();
        consumer.start();
        return consumer;
    }

    private static DataSource openPool(String jdbcUrl, GracefulShutdown shutdown) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(4);
        HikariDataSource pool = new HikariDataSource(config);
        // Registered first, closed last.
        shutdown.on(Phase.CLOSE, "connection pool", deadline -> pool.close());
        return pool;
    }

    private static IdempotentHttpClient openClient(GracefulShutdown shutdown) {
        // What the provider documents: the header's name, and how long it remembers a key.
        ProviderFormat format = ProviderFormat.of("Idempotency-Key", Duration.ofHours(24));
        return IdempotentHttpClient.builder(HttpClient.newHttpClient(), format)
                .attemptTimeout(Duration.ofSeconds(3))
                // The call is made inside the transaction, which the server ends after 15 idle seconds.
                .totalTime(Duration.ofSeconds(12))
                .shutdown(shutdown)
                .build();
    }
}
