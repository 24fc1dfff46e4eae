package dev.idempotency.benchmarks.outbox;

import dev.idempotency.benchmarks.harness.Sample;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The relay of the articles: claims twenty rows, sends each and waits for its answer, marks each. */
final class TextbookRelay {
    private static final int CLAIMED_AT_ONCE = 20;

    private TextbookRelay() {}

    static Sample relayAll(OutboxForms forms, int events) throws Exception {
        forms.refill(events);
        // Waiting for company is of no use to somebody who sends one by one.
        Map<String, Object> settings = new HashMap<>(Map.of("acks", "all", "linger.ms", 0));
        settings.putAll(forms.producerSettings());
        try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
                Connection connection = forms.database().pool().getConnection()) {
            long begin = System.nanoTime();
            for (List<UUID> claimed = claim(connection); !claimed.isEmpty(); claimed = claim(connection)) {
                for (UUID id : claimed) {
                    producer.send(BareProducer.record(id)).get();
                    mark(connection, id);
                }
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            forms.requireNothingLeft();
            return Sample.of(OutboxForms.EVENTS, events / seconds);
        }
    }

    private static List<UUID> claim(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("""
                UPDATE outbox_event
                SET status = 'PUBLISHING', locked_at = now()
                WHERE event_id IN (
                    SELECT event_id
                    FROM outbox_event
                    WHERE done_at IS NULL
                    AND status = 'PENDING'
                    ORDER BY seq
                    LIMIT ?
                    FOR UPDATE SKIP LOCKED)
                RETURNING event_id, payload
                """)) {
            statement.setInt(1, CLAIMED_AT_ONCE);
            List<UUID> claimed = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    claimed.add(rows.getObject(1, UUID.class));
                }
            }
            return claimed;
        }
    }

    private static void mark(Connection connection, UUID id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("""
                UPDATE outbox_event
                SET status = 'PUBLISHED', published_at = now(), done_at = now()
                WHERE event_id = ?
                """)) {
            statement.setObject(1, id);
            statement.executeUpdate();
        }
    }
}
