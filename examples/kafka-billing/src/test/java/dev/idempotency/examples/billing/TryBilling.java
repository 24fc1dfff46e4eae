package dev.idempotency.examples.billing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.service.EmbeddedKafka;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jdbi.v3.core.Jdbi;

/** Runs the application on embedded parts, sends it events, one of them three times, and shows what was charged. */
final class TryBilling {
    private TryBilling() {}

    public static void main(String[] arguments) throws Exception {
        try (EmbeddedPostgreSql server = EmbeddedPostgreSql.start(Map.of());
                PostgreSqlDatabase database = server.createDatabase();
                EmbeddedKafka kafka = EmbeddedKafka.start();
                ForgetfulProvider provider = new ForgetfulProvider()) {
            kafka.createTopic(OrderPlaced.TOPIC, 1);
            sendEvents(kafka.bootstrapServers());

            GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
            BillingApplication.start(database.url(), kafka.bootstrapServers(), provider.uri(), shutdown);
            Jdbi jdbi = Jdbi.create(database.dataSource());
            // The last event of the only partition: when it has its invoice, all have been handled.
            await().atMost(Duration.ofMinutes(2)).until(() -> count(jdbi, "WHERE amount_cents = 999") == 1);
            shutdown.shutdown(new Reason("the example is over"))
                    .toCompletableFuture()
                    .join();

            System.out.println("invoices: " + count(jdbi, ""));
            System.out.println("charges:  " + provider.charges() + ", in " + provider.requests()
                    + " requests, because the provider dropped its first answer to each");
        }
    }

    private static void sendEvents(String bootstrapServers) throws Exception {
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers), new StringSerializer(), new ByteArraySerializer())) {
            ProducerRecord<String, byte[]> first = event(100);
            // A relay that was killed between send and mark sends again, with the same id.
            producer.send(first).get();
            producer.send(first).get();
            producer.send(event(250)).get();
            producer.send(first).get();
            producer.send(event(999)).get();
            System.out.println("sent:     3 events in 5 messages");
        }
    }

    private static ProducerRecord<String, byte[]> event(long amountCents) throws Exception {
        OrderPlaced order = new OrderPlaced(UUID.randomUUID(), amountCents, System.currentTimeMillis());
        ProducerRecord<String, byte[]> message = new ProducerRecord<>(
                OrderPlaced.TOPIC, order.orderId().toString(), new ObjectMapper().writeValueAsBytes(order));
        message.headers().add("eventId", UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8));
        return message;
    }

    private static int count(Jdbi jdbi, String where) {
        return jdbi.withHandle(handle -> handle.createQuery("SELECT count(*) FROM invoice " + where)
                .mapTo(Integer.class)
                .one());
    }
}
