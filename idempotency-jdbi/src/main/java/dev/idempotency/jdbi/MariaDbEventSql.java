package dev.idempotency.jdbi;

import java.util.Collections;

/** The statements on the tables of events as MariaDB 11 says them. */
final class MariaDbEventSql extends EventSql {
    MariaDbEventSql(TableNames names) {
        super(names);
    }

    @Override
    String now() {
        return MariaDbSession.NOW;
    }

    @Override
    String millis(String time) {
        return "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + time + ") DIV 1000)";
    }

    @Override
    String isSame(String column) {
        return column + " <=> ?";
    }

    /** A driver with {@code useAffectedRows=true} counts a row that stays as it was for none. */
    @Override
    String touched() {
        return "updated_at = " + now() + ",";
    }

    /** Begins a transaction, which a savepoint alone does not. Parameters: consumer. */
    String begin() {
        return """
                SELECT 1
                FROM %s
                WHERE consumer_id = ?
                """.formatted(consumers);
    }

    /** A savepoint is the proof, and no condition of a statement can ask for it: {@link MariaDbProof} is asked after it. */
    @Override
    String isProven() {
        return "? IS NOT NULL";
    }

    /** Passes over marks that are there, and returns the ids of the others. Parameters: consumer and id, for each. */
    String mark(int ids) {
        return """
                INSERT IGNORE INTO %s (consumer_id, event_id)
                VALUES %s
                RETURNING event_id
                """.formatted(events, String.join(", ", Collections.nCopies(ids, "(?, ?)")));
    }

    /** How many of these marks are there, by whatever transaction that has committed. Parameters: consumer, event ids. */
    String countMarks() {
        return """
                SELECT COUNT(*)
                FROM %s
                WHERE consumer_id = ?
                AND event_id = ANY(?)
                LOCK IN SHARE MODE
                """.formatted(events);
    }

    /** DISTINCT looks at the first bytes of a LONGBLOB alone. */
    @Override
    String findParkedKeys() {
        return """
                SELECT MIN(record_key)
                FROM %s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND record_key IS NOT NULL
                GROUP BY SHA2(record_key, 256)
                LIMIT ?
                """.formatted(parked);
    }

    /** Parameters: owner, consumer, topic id, partition, topic. */
    String beginEpoch() {
        return """
                INSERT INTO %s (owner, consumer_id, topic_id, partition_number, topic, epoch)
                VALUES (?, ?, ?, ?, ?, 1)
                ON DUPLICATE KEY UPDATE
                epoch = epoch + 1,
                unadvanced = unadvanced + 1,
                owner = VALUES(owner),
                updated_at = %s
                """.formatted(offsets, now());
    }

    @Override
    String park() {
        return """
                INSERT INTO %s (
                consumer_id, topic_id, partition_number, record_offset, topic, event_id,
                recorded_at, attempts, reason, record_key, record_value, record_headers)
                VALUES (?, ?, ?, ?, ?, ?, TIMESTAMPADD(MICROSECOND, ? * 1000, '1970-01-01'), ?, ?, ?, ?, ?)
                ON DUPLICATE KEY UPDATE
                event_id = VALUES(event_id),
                parked_at = %s,
                recorded_at = VALUES(recorded_at),
                attempts = VALUES(attempts),
                reason = VALUES(reason),
                record_key = VALUES(record_key),
                record_value = VALUES(record_value),
                record_headers = VALUES(record_headers)
                """.formatted(parked, now());
    }

    /**
     * The marks that follow one, in the order of the primary key, and whether each is old. Parameters: age in
     * microseconds, event id twice, consumer, limit.
     */
    String findMarksAfter() {
        return """
                SELECT event_id, consumer_id, marked_at < %2$s - INTERVAL ? MICROSECOND AS is_old
                FROM %1$s
                WHERE event_id >= ?
                AND (event_id > ? OR consumer_id > ?)
                ORDER BY event_id, consumer_id
                LIMIT ?
                """.formatted(events, now());
    }

    /** Parameters: event id, consumer, age in microseconds. */
    String deleteMark() {
        return """
                DELETE FROM %1$s
                WHERE event_id = ?
                AND consumer_id = ?
                AND marked_at < %2$s - INTERVAL ? MICROSECOND
                """.formatted(events, now());
    }
}
