package dev.idempotency.jdbi;

/** The statements on the outbox as H2 2.x says them. */
final class H2OutboxSql extends OutboxSql {
    H2OutboxSql(TableNames names) {
        super(names);
    }

    @Override
    String clock() {
        return "CURRENT_TIMESTAMP(6)";
    }

    @Override
    String later() {
        return "DATEADD(MILLISECOND, ?, CURRENT_TIMESTAMP(6))";
    }

    @Override
    String age() {
        return "DATEDIFF(MILLISECOND, created_at, CURRENT_TIMESTAMP(6))";
    }

    @Override
    String dueIn() {
        return "GREATEST(0, COALESCE(DATEDIFF(MILLISECOND, CURRENT_TIMESTAMP(6), next_attempt_at), 0)) AS due_in";
    }

    /** One event. Parameters: id, bucket, topic, partition, key, payload, headers, ordering key, type, tenant, delay. */
    @Override
    String append() {
        return insertInto("INSERT INTO") + insertedRow();
    }

    /** Numbers, and bytes, of rows that are due and not claimed, not locked. Parameters: first number, topics to leave out, limit. */
    String findFree() {
        return """
                SELECT seq, COALESCE(OCTET_LENGTH(payload), 0)
                FROM %s
                WHERE done_at IS NULL
                AND seq >= ?
                AND %s
                AND NOT (topic = ANY(?))
                ORDER BY seq
                FETCH FIRST ? ROWS ONLY
                """.formatted(event, free());
    }

    /** Those of these rows that are still due and not claimed, locked. Parameter: sequence numbers. */
    String lockFree() {
        return """
                SELECT %s
                FROM %s
                WHERE done_at IS NULL
                AND seq = ANY(?)
                AND %s
                ORDER BY seq
                FOR UPDATE SKIP LOCKED
                """.formatted(columns(), event, free());
    }

    private String free() {
        return "(next_attempt_at IS NULL OR next_attempt_at <= %1$s) AND (status = 'PENDING' OR locked_until < %1$s)"
                .formatted(clock());
    }

    @Override
    String limitAndLock() {
        return """
                FETCH FIRST ? ROWS ONLY
                FOR UPDATE SKIP LOCKED""";
    }

    @Override
    String deletePublished() {
        return """
                DELETE FROM %s
                WHERE done_at < DATEADD(MILLISECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))
                AND status = 'PUBLISHED'
                FETCH FIRST ? ROWS ONLY
                """.formatted(event);
    }

    @Override
    String announce() {
        return """
                MERGE INTO %s (owner, expires_at)
                KEY (owner)
                VALUES (?, %s)
                """.formatted(relay, later());
    }

    @Override
    String heldLeases() {
        return "UNNEST(?, ?) AS held (slot, epoch)";
    }
}
