package dev.idempotency.kafka;

import dev.idempotency.ConsumerId;
import dev.idempotency.event.MarkCleanUp;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.MarkPartitions;
import dev.idempotency.shutdown.GracefulShutdown;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.common.serialization.StringDeserializer;

/** What the module's page shows, compiled. */
final class PageExamples {
    private PageExamples() {}

    static IdempotentConsumer<String, String> consume(DataSource pool, String servers) {
        IdempotentConsumer<String, String> consumer = IdempotentConsumer.<String, String>builder()
                .consumer(ConsumerId.of("billing"))
                .topics("orders")
                .properties(Map.of("bootstrap.servers", servers))
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(JdbiEventStore.of(pool))
                .transactions(JdbiTransactionRunner.of(pool))
                .handler(
                        TransactionScope.PER_BATCH,
                        (record, context) -> charge(context.transaction().unwrap(Connection.class), record.value()))
                .build();
        consumer.start();
        return consumer;
    }

    private static void charge(Connection connection, String order) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO charge (order_id) VALUES (?)")) {
            statement.setString(1, order);
            statement.executeUpdate();
        }
    }

    static TopicReplay repeat(IdempotentConsumer<String, String> consumer, Instant yesterday, Instant now) {
        TopicReplay replay = consumer.replay(TopicRange.between("orders", yesterday, now));
        return replay;
    }

    static MarkCleanUp cleanUp(
            DataSource pool,
            JdbiEventStore store,
            IdempotentConsumer<String, String> consumer,
            GracefulShutdown shutdown) {
        MarkPartitions partitions = MarkPartitions.of(pool);
        partitions.install();
        MarkCleanUp cleanUp = MarkCleanUp.builder()
                .store(store)
                .age(Duration.ofDays(21))
                .horizon(consumer::redeliveryHorizon)
                .partitions(partitions)
                .build();
        cleanUp.start(shutdown);
        return cleanUp;
    }
}
