package dev.idempotency.examples.relay;

import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jdbi.v3.core.Jdbi;

/** Runs shop and relay on an embedded database and broker, and shows what arrives. */
final class TryRelay {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private TryRelay() {}

    public static void main(String[] arguments) {
        try (EmbeddedPostgreSql server = EmbeddedPostgreSql.start(Map.of());
                PostgreSqlDatabase database = server.createDatabase();
                EmbeddedKafka kafka = EmbeddedKafka.start()) {
            kafka.createTopic(Shop.TOPIC, 1);
            Shop shop = openShop(database.dataSource());

            System.out.println("without a relay: ordered " + shop.order("a book") + " (a book)");
            System.out.println("without a relay: ordered " + shop.order("a pen") + " (a pen)");
            try {
                shop.order("");
            } catch (RuntimeException e) {
                System.out.println("without a relay: an order for nothing was refused, and rolled back with its event");
            }

            GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
            RelayApplication.start(database.url(), kafka.bootstrapServers(), shutdown);
            System.out.println("the relay is started");
            System.out.println("with the relay: ordered " + shop.order("a lamp") + " (a lamp)");
            read(kafka.bootstrapServers(), 3).forEach(System.out::println);
            shutdown.shutdown(new Reason("the example is over"))
                    .toCompletableFuture()
                    .join();
        }
    }

    private static Shop openShop(DataSource dataSource) {
        SchemaInstaller.of(dataSource).install();
        Shop.createTable(Jdbi.create(dataSource));
        return new Shop(JdbiTransactionRunner.of(dataSource), Outbox.of(JdbiOutboxStore.of(dataSource)));
    }

    private static List<String> read(String bootstrapServers, int count) {
        List<String> lines = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers), new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(Shop.TOPIC, 0));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (lines.size() < count && System.nanoTime() < end) {
                consumer.poll(Duration.ofMillis(200)).forEach(message -> lines.add(describe(message)));
            }
        }
        return lines;
    }

    private static String describe(ConsumerRecord<String, String> message) {
        byte[] eventId =
                message.headers().lastHeader(OutboxEvent.EVENT_ID_HEADER).value();
        return "in Kafka: " + message.value() + ", eventId " + new String(eventId, StandardCharsets.UTF_8);
    }
}
