package dev.idempotency.examples.chain.orders;

import dev.idempotency.examples.chain.service.OrderPlaced;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends what is not marked as sent, and marks it: killed between the two, or run twice, it sends again. */
final class NaiveRelay {
    private static final Logger logger = LoggerFactory.getLogger(NaiveRelay.class);

    private final Jdbi jdbi;
    private final KafkaProducer<String, byte[]> producer;

    NaiveRelay(Jdbi jdbi, String bootstrapServers) {
        this.jdbi = jdbi;
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrapServers);
        this.producer = new KafkaProducer<>(properties, new StringSerializer(), new ByteArraySerializer());
    }

    void start() {
        new Thread(this::run, "naive-relay").start();
    }

    private void run() {
        while (true) {
            relaySafely();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private void relaySafely() {
        try {
            relay();
        } catch (Exception e) {
            logger.warn("The relay failed and will try again", e);
        }
    }

    private void relay() throws Exception {
        for (Row row : unsent()) {
            ProducerRecord<String, byte[]> message =
                    new ProducerRecord<>(OrderPlaced.TOPIC, row.orderId().toString(), row.payload());
            message.headers().add("eventId", row.eventId().toString().getBytes(StandardCharsets.UTF_8));
            producer.send(message).get();
            // Killed here: sent, but not marked.
            markSent(row);
        }
    }

    private List<Row> unsent() {
        return jdbi.withHandle(handle -> handle.createQuery("""
                        SELECT sequence, event_id, order_id, payload
                        FROM naive_outbox
                        WHERE NOT sent
                        ORDER BY sequence
                        LIMIT 20
                        """)
                .map((rows, context) -> new Row(
                        rows.getLong("sequence"),
                        rows.getObject("event_id", UUID.class),
                        rows.getObject("order_id", UUID.class),
                        rows.getBytes("payload")))
                .list());
    }

    private void markSent(Row row) {
        jdbi.useHandle(handle -> handle.createUpdate("UPDATE naive_outbox SET sent = true WHERE sequence = :sequence")
                .bind("sequence", row.sequence())
                .execute());
    }

    // A class for a row: arrays in records compare by identity, which nothing here relies on.
    @SuppressWarnings("ArrayRecordComponent")
    private record Row(long sequence, UUID eventId, UUID orderId, byte[] payload) {}
}
