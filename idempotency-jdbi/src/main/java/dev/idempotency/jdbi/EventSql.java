package dev.idempotency.jdbi;

/**
 * The statements on the tables of events, named after the store's methods; a dialect overrides what it says differently.
 * Parameters are listed in their order.
 */
abstract class EventSql {
    final String consumers;
    final String events;
    final String offsets;
    final String parked;

    EventSql(TableNames names) {
        this.consumers = names.table("event_consumer");
        this.events = names.table("processed_event");
        this.offsets = names.table("partition_offset");
        this.parked = names.table("parked_event");
    }

    /** The database's time. */
    abstract String now();

    /** Parameters: name. */
    String findConsumer() {
        return """
                SELECT consumer_id
                FROM %s
                WHERE name = ?
                """.formatted(consumers);
    }

    /** Adds a consumer; without a row, or with a violated key, if there is one of that name. Parameters: name. */
    String register() {
        return """
                INSERT INTO %s (name)
                VALUES (?)
                """.formatted(consumers);
    }

    /** An assignment that changes a row whatever else is set, with a comma after it; empty where none is needed. */
    String touched() {
        return "";
    }

    /** True if a column, which may be null, is what the parameter is. */
    String isSame(String column) {
        return column + " IS NOT DISTINCT FROM ?";
    }

    /** True if this is still the transaction of the proof. Parameters: proof. */
    abstract String isProven();

    /**
     * Moves one offset; no row if the assignment has ended, the offset has moved, or the transaction is another one.
     * Parameters: next offset, consumer, topic id, partition, epoch, expected offset, proof.
     */
    String advance() {
        return """
                UPDATE %1$s
                SET next_offset = ?,
                unadvanced = 0,
                updated_at = %2$s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND epoch = ?
                AND %4$s
                AND %3$s
                """.formatted(offsets, now(), isProven(), isSame("next_offset"));
    }

    /**
     * True if the owner before advanced nothing, or began a counted attempt that nothing came of.
     *
     * @param row the name by which the row is known
     */
    static String isSuspect(String row) {
        return "(%1$s.unadvanced > 1 OR (%1$s.starts > 0 AND (%1$s.next_offset IS NULL OR %1$s.started_offset >= %1$s.next_offset)))"
                .formatted(row);
    }

    /** Parameters: consumer, topic id, partition. */
    String findOffset() {
        return """
                SELECT epoch, next_offset, %2$s AS suspect
                FROM %1$s o
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                """.formatted(offsets, isSuspect("o"));
    }

    /** Counts an attempt once in each epoch. Parameters: offset, epoch, offset, consumer, topic id, partition, epoch. */
    String start() {
        return """
                UPDATE %1$s
                SET starts = CASE
                WHEN NOT (%2$s) OR starts = 0 THEN 1
                WHEN started_epoch = ? THEN starts
                ELSE starts + 1
                END,
                started_offset = ?,
                %3$s
                started_epoch = epoch
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND epoch = ?
                """.formatted(offsets, isSame("started_offset"), touched());
    }

    /** Parameters: consumer, topic id, partition. */
    String findStarts() {
        return """
                SELECT starts
                FROM %s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                """.formatted(offsets);
    }

    /** Forgets the attempts at an event. Parameters: offset, consumer, topic id, partition, epoch. */
    String settle() {
        return """
                UPDATE %s
                SET starts = 0
                WHERE started_offset = ?
                AND consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND epoch = ?
                """.formatted(offsets);
    }

    /**
     * Sets a record aside. Parameters: consumer, topic id, partition, offset, topic, event id, time in milliseconds,
     * attempts, reason, key, value, headers.
     */
    abstract String park();

    /** What is read of a parked record, by these names and in this order. */
    String parkedColumns() {
        return """
                topic_id, partition_number, record_offset, topic, event_id, %s AS recorded_millis,
                attempts, reason, record_key, record_value, record_headers
                """.formatted(millis("recorded_at")).stripTrailing();
    }

    /** Milliseconds since 1970 of a time. */
    abstract String millis(String time);

    /** Parameters: consumer, limit. */
    String findParked() {
        return """
                SELECT %1$s
                FROM %2$s
                WHERE consumer_id = ?
                ORDER BY topic_id, partition_number, record_offset
                FETCH FIRST ? ROWS ONLY
                """.formatted(parkedColumns(), parked);
    }

    /** Parameters: consumer, topic id, partition and offset of the last one before, limit. */
    String findParkedAfter() {
        return """
                SELECT %1$s
                FROM %2$s
                WHERE consumer_id = ?
                AND (topic_id, partition_number, record_offset) > (?, ?, ?)
                ORDER BY topic_id, partition_number, record_offset
                FETCH FIRST ? ROWS ONLY
                """.formatted(parkedColumns(), parked);
    }

    /** Parameters: consumer, topic id, partition, limit. */
    String findParkedKeys() {
        return """
                SELECT DISTINCT record_key
                FROM %s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND record_key IS NOT NULL
                FETCH FIRST ? ROWS ONLY
                """.formatted(parked);
    }

    /** Parameters: consumer, topic id, partition, key. */
    String lockFirstParked() {
        return """
                SELECT record_offset
                FROM %s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND record_key = ?
                ORDER BY record_offset
                FETCH FIRST 1 ROWS ONLY
                FOR UPDATE
                """.formatted(parked);
    }

    /** Parameters: consumer, topic id, partition, offset. */
    String lockParked() {
        return """
                SELECT %1$s
                FROM %2$s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND record_offset = ?
                FOR UPDATE
                """.formatted(parkedColumns(), parked);
    }

    /** Parameters: consumer, topic id, partition, offset. */
    String unpark() {
        return """
                DELETE FROM %s
                WHERE consumer_id = ?
                AND topic_id = ?
                AND partition_number = ?
                AND record_offset = ?
                """.formatted(parked);
    }
}
