package dev.idempotency.examples.chain.billing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.examples.chain.service.ChargeAnswer;
import dev.idempotency.examples.chain.service.ChargeRequest;
import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jdbi.v3.core.Jdbi;

/** Billing as it is often written: no memory of events, offsets before effects, a new key for each attempt. */
final class NaiveBilling {
    private final Jdbi jdbi;
    private final URI charges;
    private final HttpClient client = HttpClient.newHttpClient();

    private NaiveBilling(Jdbi jdbi, URI provider) {
        this.jdbi = jdbi;
        this.charges = provider.resolve("/charges");
    }

    static void start(ServiceSettings settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.jdbcUrl());
        config.setMaximumPoolSize(2);
        NaiveBilling billing = new NaiveBilling(Jdbi.create(new HikariDataSource(config)), settings.provider());

        Properties properties = new Properties();
        properties.put("bootstrap.servers", settings.kafka());
        properties.put("group.id", BillingService.GROUP);
        properties.put("group.instance.id", BillingService.GROUP);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "earliest");
        properties.put("max.poll.records", "10");
        new Thread(() -> billing.consume(properties), "billing").start();
    }

    private void consume(Properties properties) {
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(properties, new StringDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(OrderPlaced.TOPIC));
            while (true) {
                ConsumerRecords<String, byte[]> records = consumer.poll(Duration.ofMillis(200));
                consumer.commitSync();
                // Killed here: these records are never read again.
                for (ConsumerRecord<String, byte[]> message : records) {
                    bill(Json.read(message.value(), OrderPlaced.class));
                }
            }
        }
    }

    private void bill(OrderPlaced order) {
        String chargeId = charge(order);
        // Killed here: charged, and no invoice says so.
        jdbi.useHandle(handle -> handle.createUpdate("""
                        INSERT INTO invoice (order_id, charge_id, amount_cents)
                        VALUES (:orderId, :chargeId, :amountCents)
                        """)
                .bind("orderId", order.orderId())
                .bind("chargeId", chargeId)
                .bind("amountCents", order.amountCents())
                .execute());
    }

    private String charge(OrderPlaced order) {
        byte[] body = Json.write(new ChargeRequest(order.orderId(), order.amountCents()));
        for (int attempt = 1; ; attempt++) {
            HttpRequest request = HttpRequest.newBuilder(charges)
                    .timeout(Duration.ofSeconds(2))
                    .header("Content-Type", "application/json")
                    // A new key for each attempt: to the provider, each attempt is another charge.
                    .header("Idempotency-Key", UUID.randomUUID().toString())
                    .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                    .build();
            try {
                HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                if (answer.statusCode() == 200) {
                    return Json.read(answer.body(), ChargeAnswer.class).chargeId();
                }
            } catch (IOException e) {
                // Charged or not? A naive caller cannot tell, and tries again.
                if (attempt == 5) {
                    throw new IllegalStateException("The provider did not answer five times", e);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted", e);
            }
        }
    }
}
