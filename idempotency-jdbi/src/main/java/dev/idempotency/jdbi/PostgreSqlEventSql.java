package dev.idempotency.jdbi;

/** The statements on the tables of events as PostgreSQL 14 and newer say them. */
final class PostgreSqlEventSql extends EventSql {
    private final PostgreSqlLimits limits;

    PostgreSqlEventSql(TableNames names, PostgreSqlLimits limits) {
        super(names);
        this.limits = limits;
    }

    PostgreSqlLimits limits() {
        return limits;
    }

    @Override
    String now() {
        return "now()";
    }

    @Override
    String millis(String time) {
        return "CAST(extract(epoch FROM " + time + ") * 1000 AS bigint)";
    }

    private static String transactionStart() {
        return "CAST(extract(epoch FROM now()) * 1000000 AS bigint)";
    }

    /** The time at which a transaction began is its proof: no other of the session began in the same microsecond. */
    @Override
    String isProven() {
        return transactionStart() + " = ?";
    }

    String confirm() {
        return "SELECT 1 WHERE " + isProven();
    }

    @Override
    String register() {
        return super.register() + "ON CONFLICT (name) DO NOTHING";
    }

    /**
     * Puts the limits in force and tells when the transaction began; then marks, in an order that is the same for all.
     * Parameters: those of the limits, consumer, event ids.
     */
    String markFirst() {
        return "SELECT " + limits.columns() + ",\n" + transactionStart() + " AS started_micros;\n" + mark();
    }

    /** Parameters: consumer, event ids. */
    String mark() {
        return """
                INSERT INTO %s (consumer_id, event_id)
                SELECT ?, m.event_id
                FROM unnest(?) AS m (event_id)
                ORDER BY m.event_id
                ON CONFLICT (event_id, consumer_id) DO NOTHING
                RETURNING event_id
                """.formatted(events);
    }

    /** Parameters: those of the limits, consumer, owner, topic ids, partitions, topics. */
    String assign() {
        return "SELECT " + limits.columns() + ";\n" + """
                INSERT INTO %s AS o (consumer_id, owner, topic_id, partition_number, topic, epoch)
                SELECT ?, ?, a.topic_id, a.partition_number, a.topic, 1
                FROM unnest(?, ?, ?) AS a (topic_id, partition_number, topic)
                ORDER BY a.topic_id, a.partition_number
                ON CONFLICT (consumer_id, topic_id, partition_number) DO UPDATE
                SET epoch = o.epoch + 1,
                unadvanced = o.unadvanced + 1,
                owner = excluded.owner,
                updated_at = now()
                RETURNING topic_id, partition_number, epoch, next_offset, %s AS suspect
                """.formatted(offsets, isSuspect("o"));
    }

    @Override
    String park() {
        return """
                INSERT INTO %s (
                consumer_id, topic_id, partition_number, record_offset, topic, event_id,
                recorded_at, attempts, reason, record_key, record_value, record_headers)
                VALUES (?, ?, ?, ?, ?, ?, to_timestamp(? / 1000.0), ?, ?, ?, ?, ?)
                ON CONFLICT (consumer_id, topic_id, partition_number, record_offset) DO UPDATE
                SET event_id = excluded.event_id,
                parked_at = now(),
                attempts = excluded.attempts,
                reason = excluded.reason,
                record_key = excluded.record_key,
                record_value = excluded.record_value,
                record_headers = excluded.record_headers
                """.formatted(parked);
    }

    /**
     * The tables that hold the marks, by name and number of pages: one, or its partitions. A page's number means something in
     * one table only.
     */
    String markTables() {
        return """
                SELECT CAST(t.relid AS text), pg_relation_size(t.relid) / current_setting('block_size')::bigint
                FROM (
                SELECT relid
                FROM pg_partition_tree(CAST('%1$s' AS regclass))
                WHERE isleaf
                UNION
                SELECT CAST('%1$s' AS regclass)
                ) AS t
                ORDER BY 1
                """.formatted(events);
    }

    /**
     * Deletes from a range of a table's pages, if no other process does so now. Parameters: those of the limits, first
     * page, page after the last, age in microseconds, limit.
     */
    String deleteMarks(String table) {
        return "SELECT " + limits.columns() + ";\n" + """
                DELETE FROM %1$s
                WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM %1$s
                WHERE ctid >= CAST('(' || ? || ',0)' AS tid)
                AND ctid < CAST('(' || ? || ',0)' AS tid)
                AND marked_at < now() - ? * interval '1 microsecond'
                LIMIT ?))
                AND (SELECT pg_try_advisory_xact_lock(hashtextextended('dev.idempotency.jdbi %2$s', 0)))
                """.formatted(table, events);
    }
}
