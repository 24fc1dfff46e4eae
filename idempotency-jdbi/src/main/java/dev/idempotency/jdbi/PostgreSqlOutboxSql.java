package dev.idempotency.jdbi;

/** The statements on the outbox as PostgreSQL says them. */
final class PostgreSqlOutboxSql extends OutboxSql {
    private final PostgreSqlLimits limits;

    PostgreSqlOutboxSql(TableNames names, PostgreSqlLimits limits) {
        super(names);
        this.limits = limits;
    }

    PostgreSqlLimits limits() {
        return limits;
    }

    /** The statement behind the transaction's limits, in one round trip. Parameters: three for the limits, then its own. */
    String limited(String statement) {
        return "SELECT " + limits.columns() + ";\n" + statement;
    }

    @Override
    String binaryType() {
        return "bytea";
    }

    @Override
    String clock() {
        return "clock_timestamp()";
    }

    @Override
    String later() {
        return "clock_timestamp() + ? * interval '1 millisecond'";
    }

    @Override
    String age() {
        return "CAST(EXTRACT(EPOCH FROM clock_timestamp() - created_at) * 1000 AS bigint)";
    }

    /**
     * A new number, because the old one may lie below what relays take for finished. The lock on the row has given the
     * transaction its id before the number is drawn, as in an append.
     */
    @Override
    String requeued() {
        return "seq = DEFAULT,";
    }

    @Override
    String dueIn() {
        return """
                GREATEST(0, CEIL(EXTRACT(EPOCH FROM next_attempt_at - clock_timestamp()) * 1000))::bigint AS due_in""";
    }

    /**
     * Parameters: an array per column.
     *
     * <p>The transaction id comes first: the sort needs all of its input, and so the id, before the insert draws the
     * first sequence number. A plain insert would draw the number first, and a relay could then believe that all
     * transactions below it have ended.
     */
    @Override
    String append() {
        return insert() + """
                ON CONFLICT DO NOTHING
                RETURNING event_id
                """;
    }

    /**
     * Without a look for the ids, which costs a record of the log for each row: the server inserts on trial first, and then
     * confirms. Parameters: an array per column.
     */
    String appendNew() {
        return insert();
    }

    private String insert() {
        return """
                WITH own AS MATERIALIZED (
                SELECT pg_current_xact_id() AS id)
                INSERT INTO %s (
                event_id,
                bucket,
                topic,
                partition_no,
                msg_key,
                payload,
                headers,
                ordering_key,
                event_type,
                tenant_id,
                next_attempt_at)
                SELECT
                v.event_id,
                v.bucket,
                v.topic,
                v.partition_no,
                v.msg_key,
                v.payload,
                v.headers,
                v.ordering_key,
                v.event_type,
                v.tenant_id,
                CASE WHEN v.delay > 0 THEN clock_timestamp() + v.delay * interval '1 millisecond' END
                FROM own
                CROSS JOIN unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WITH ORDINALITY AS v (
                event_id,
                bucket,
                topic,
                partition_no,
                msg_key,
                payload,
                headers,
                ordering_key,
                event_type,
                tenant_id,
                delay,
                position)
                ORDER BY v.position
                """.formatted(event);
    }

    /**
     * Parameters: first sequence number, topics to leave out, limit, owner, token, lease, most bytes.
     *
     * <p>The first subquery is a fence for the planner: without it the limit could be applied more than once.
     */
    String claimAtOnce() {
        return """
                WITH free AS MATERIALIZED (
                SELECT seq, OCTET_LENGTH(payload) AS bytes
                FROM %1$s
                WHERE done_at IS NULL
                AND seq >= ?
                AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp())
                AND (status = 'PENDING' OR locked_until < clock_timestamp())
                AND NOT (topic = ANY(?))
                ORDER BY seq
                LIMIT ?
                FOR NO KEY UPDATE SKIP LOCKED),
                page AS (
                SELECT seq, %3$s
                FROM free),
                taken AS (
                UPDATE %1$s
                SET status = 'PUBLISHING',
                locked_by = ?,
                claim_token = ?,
                locked_at = clock_timestamp(),
                locked_until = clock_timestamp() + ? * interval '1 millisecond',
                crashes = crashes + CASE WHEN status = 'PUBLISHING' THEN 1 ELSE 0 END
                WHERE seq = ANY(ARRAY(SELECT seq FROM page WHERE bytes_before < ?))
                AND done_at IS NULL
                RETURNING *)
                SELECT %2$s
                FROM taken
                ORDER BY seq
                """.formatted(event, columns(), bytesBefore("bytes"));
    }

    @Override
    String limitAndLock() {
        return """
                LIMIT ?
                FOR NO KEY UPDATE SKIP LOCKED""";
    }

    /** Parameters: age, limit. */
    @Override
    String deletePublished() {
        return """
                WITH old AS MATERIALIZED (
                SELECT event_id
                FROM %1$s
                WHERE published_at < clock_timestamp() - ? * interval '1 millisecond'
                AND status = 'PUBLISHED'
                ORDER BY published_at
                LIMIT ?
                FOR UPDATE SKIP LOCKED)
                DELETE FROM %1$s
                WHERE event_id = ANY(ARRAY(SELECT event_id FROM old))
                """.formatted(event);
    }

    /**
     * The oldest transaction still running, the last sequence number drawn by anybody, the first unfinished row.
     * Parameter: the first row that may be unfinished.
     */
    String lookAtHorizon() {
        return """
                SELECT
                pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest_running,
                (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %1$s_seq_seq) AS last_drawn,
                (SELECT seq FROM %1$s WHERE done_at IS NULL AND seq >= ? ORDER BY seq LIMIT 1) AS first_live
                """.formatted(event);
    }

    /** A transaction id of our own, greater than that of every transaction that has one by now. */
    String ownTransactionId() {
        return "SELECT pg_current_xact_id()::text::bigint";
    }

    @Override
    String announce() {
        return """
                INSERT INTO %s (owner, expires_at)
                VALUES (?, %s)
                ON CONFLICT (owner) DO UPDATE
                SET expires_at = EXCLUDED.expires_at
                """.formatted(relay, later());
    }

    /**
     * Makes a relay known and counts all, itself included: one statement, because an idle relay does this every few
     * seconds. Parameters: owner, lease, owner.
     *
     * <p>The count does not see what the statement writes, so it leaves this relay out and adds it.
     */
    String announceAndCount() {
        return """
                WITH announced AS (
                %s)
                SELECT 1 + COUNT(*)
                FROM %s
                WHERE expires_at > clock_timestamp()
                AND owner <> ?
                """.formatted(announce(), relay);
    }

    /** Parameters: lease, slots, epochs, owner. */
    String extendAll() {
        return """
                UPDATE %s AS l
                SET expires_at = GREATEST(l.expires_at, %s)
                FROM %s
                WHERE l.slot = held.slot
                AND l.epoch = held.epoch
                AND l.owner = ?
                AND l.expires_at > clock_timestamp()
                RETURNING l.slot
                """.formatted(lease, later(), heldLeases());
    }

    /** A join, because a condition on two arrays would compare each row with each element of the second. */
    @Override
    String theseUpdated() {
        return "FROM " + these();
    }

    @Override
    String theseDeleted() {
        return "USING " + these();
    }

    private static String these() {
        return """
                unnest(?, ?) AS sent (sent_seq, sent_id)
                WHERE seq = sent_seq
                AND event_id = sent_id""";
    }

    @Override
    String heldLeases() {
        return "unnest(?, ?) AS held (slot, epoch)";
    }
}
