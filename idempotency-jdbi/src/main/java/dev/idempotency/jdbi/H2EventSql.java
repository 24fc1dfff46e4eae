package dev.idempotency.jdbi;

/** The statements on the tables of events as H2 2.x says them. */
final class H2EventSql extends EventSql {
    H2EventSql(TableNames names) {
        super(names);
    }

    @Override
    String now() {
        return "CURRENT_TIMESTAMP(6)";
    }

    @Override
    String millis(String time) {
        return "CAST(EXTRACT(EPOCH FROM " + time + ") * 1000 AS BIGINT)";
    }

    /** The transaction's id is its proof; it has one once it has written, and another one after it has ended. */
    @Override
    String isProven() {
        return "TRANSACTION_ID() = ?";
    }

    String transactionId() {
        return "SELECT TRANSACTION_ID()";
    }

    /** Parameters: consumer, event ids. */
    String findMarks() {
        return """
                SELECT event_id
                FROM %s
                WHERE consumer_id = ?
                AND event_id = ANY (?)
                """.formatted(events);
    }

    /** Parameters: consumer, event id. */
    String mark() {
        return """
                INSERT INTO %s (consumer_id, event_id)
                VALUES (?, ?)
                """.formatted(events);
    }

    /** Parameters: consumer, event id. */
    String unmark() {
        return """
                DELETE FROM %s
                WHERE consumer_id = ?
                AND event_id = ?
                """.formatted(events);
    }

    /** Parameters: owner, consumer, topic id, partition. */
    String beginEpoch() {
        return """
                UPDATE %1$s
                SET epoch = epoch + 1,
                unadvanced = unadvanced + 1,
                owner = ?,
                updated_at = %2$s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                """.formatted(offsets, now());
    }

    /** Parameters: owner, consumer, topic id, partition, topic. */
    String beginFirstEpoch() {
        return """
                INSERT INTO %s (owner, consumer_id, topic_id, partition_number, topic, epoch)
                VALUES (?, ?, ?, ?, ?, 1)
                """.formatted(offsets);
    }

    @Override
    String park() {
        return """
                MERGE INTO %s (
                consumer_id, topic_id, partition_number, record_offset, topic, event_id,
                recorded_at, attempts, reason, record_key, record_value, record_headers)
                KEY (consumer_id, topic_id, partition_number, record_offset)
                VALUES (?, ?, ?, ?, ?, ?,
                DATEADD(MILLISECOND, ?, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'), ?, ?, ?, ?, ?)
                """.formatted(parked);
    }

    /** Parameters: age in microseconds, negative; limit. */
    String deleteMarks() {
        return """
                DELETE FROM %1$s
                WHERE marked_at < DATEADD(MICROSECOND, ?, %2$s)
                FETCH FIRST ? ROWS ONLY
                """.formatted(events, now());
    }
}
