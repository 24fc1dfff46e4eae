package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads rows of the outbox by the names of {@link OutboxSql#COLUMNS}. */
final class OutboxRowReader {
    private OutboxRowReader() {}

    static List<OutboxRow> readRows(ResultSet rows) throws SQLException {
        List<OutboxRow> result = new ArrayList<>();
        while (rows.next()) {
            result.add(readRow(rows));
        }
        return result;
    }

    /** A row that others have written, or changed, must not stop those behind it: what is wrong with it goes with it. */
    private static OutboxRow readRow(ResultSet rows) throws SQLException {
        OutboxEvent event;
        Optional<String> damage = Optional.empty();
        try {
            event = readEvent(rows, OutboxEvent.to(rows.getString("topic")));
        } catch (IllegalArgumentException e) {
            damage = Optional.of(String.valueOf(e.getMessage()));
            event = readRest(rows);
        }
        return new OutboxRow(
                rows.getLong("seq"),
                event,
                rows.getInt("bucket"),
                rows.getInt("attempts"),
                Duration.ofMillis(rows.getLong("due_in")),
                rows.getObject("created_at", OffsetDateTime.class).toInstant(),
                damage);
    }

    /** Reads of a damaged row who it is and whose order it stands in. */
    private static OutboxEvent readRest(ResultSet rows) throws SQLException {
        OutboxEvent.Builder event;
        try {
            event = OutboxEvent.to(rows.getString("topic"));
        } catch (IllegalArgumentException e) {
            event = OutboxEvent.to(OutboxRow.UNREADABLE_TOPIC);
        }
        event.eventId(rows.getObject("event_id", UUID.class));
        byte[] key = rows.getBytes("msg_key");
        if (key != null) {
            event.key(key);
        }
        String orderingKey = rows.getString("ordering_key");
        if (orderingKey != null) {
            try {
                event.orderingKey(orderingKey);
            } catch (IllegalArgumentException e) {
                // No sound event can have it, so none stands in order with this one.
                return event.build();
            }
        }
        return event.build();
    }

    private static OutboxEvent readEvent(ResultSet rows, OutboxEvent.Builder event) throws SQLException {
        event.eventId(rows.getObject("event_id", UUID.class));
        byte[] key = rows.getBytes("msg_key");
        if (key != null) {
            event.key(key);
        }
        byte[] payload = rows.getBytes("payload");
        if (payload != null) {
            event.payload(payload);
        }
        int partition = rows.getInt("partition_no");
        if (!rows.wasNull()) {
            event.partition(partition);
        }
        HeaderText.decode(rows.getString("headers")).forEach(event::header);
        String orderingKey = rows.getString("ordering_key");
        if (orderingKey != null) {
            event.orderingKey(orderingKey);
        }
        String type = rows.getString("event_type");
        if (type != null) {
            event.type(type);
        }
        String tenant = rows.getString("tenant_id");
        if (tenant != null) {
            event.tenant(tenant);
        }
        return event.build();
    }
}
