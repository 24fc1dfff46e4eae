package dev.idempotency.jdbi;

/** What operators do with {@code outbox_event}, in statements named after the store's methods. */
final class ManagedOutboxSql {
    /** A flag that is true if the set is empty, and the set, for ids, topics and tenants. */
    private static final String FILTER = """
            AND (? OR event_id = ANY(?))
            AND (? OR topic = ANY(?))
            AND (? OR tenant_id = ANY(?))
            """;

    /** How an index finds the rows that were given up; their status is in no index, because a claim changes it. */
    private static final String GIVEN_UP = """
            AND done_at IS NOT NULL
            AND published_at IS NULL
            """;

    private final OutboxSql sql;

    ManagedOutboxSql(OutboxSql sql) {
        this.sql = sql;
    }

    /** The first and the last unfinished row, one index look-up each. No parameters. */
    String backlog() {
        return """
                SELECT
                (SELECT seq FROM %1$s WHERE done_at IS NULL ORDER BY seq FETCH FIRST ROW ONLY) AS first_live,
                (SELECT seq FROM %1$s WHERE done_at IS NULL ORDER BY seq DESC FETCH FIRST ROW ONLY) AS last_live,
                (SELECT %2$s FROM %1$s WHERE done_at IS NULL ORDER BY seq FETCH FIRST ROW ONLY) AS age
                """.formatted(sql.live(), sql.age());
    }

    /** Rows that are still to be published. Parameters: status, filter, limit. */
    String findLive() {
        return find() + "AND done_at IS NULL\n" + FILTER + "ORDER BY seq\nFETCH FIRST ? ROWS ONLY";
    }

    /** Rows that were published. Parameters: status, filter, limit. */
    String findPublished() {
        return find() + "AND published_at IS NOT NULL\n" + FILTER
                + "ORDER BY published_at, seq\nFETCH FIRST ? ROWS ONLY";
    }

    /** Rows that were given up. Parameters: status, filter, limit. */
    String findDead() {
        return find() + GIVEN_UP + FILTER + "ORDER BY done_at, seq\nFETCH FIRST ? ROWS ONLY";
    }

    private String find() {
        return """
                SELECT
                event_id,
                seq,
                topic,
                status,
                attempts,
                crashes,
                locked_by,
                last_error,
                created_at
                FROM %s
                WHERE status = ?
                """.formatted(sql.event);
    }

    /** Locks rows that were given up. Parameters: filter, limit. */
    String lockDead() {
        return lock("status = 'DEAD'") + GIVEN_UP + FILTER + "ORDER BY done_at, seq\n" + sql.limitAndLock();
    }

    /** Locks rows that wait. Parameters: filter, limit. */
    String lockPending() {
        return lock("status = 'PENDING'\nAND done_at IS NULL") + FILTER + "ORDER BY seq\n" + sql.limitAndLock();
    }

    /** Locks rows that a relay has claimed. Parameters: owner, limit. */
    String lockClaimed() {
        return lock("status = 'PUBLISHING'\nAND done_at IS NULL\nAND locked_by = ?")
                + "ORDER BY seq\n"
                + sql.limitAndLock();
    }

    private String lock(String condition) {
        return """
                SELECT event_id, seq
                FROM %s
                WHERE %s
                """.formatted(sql.event, condition);
    }

    /** One row that this transaction has locked. Parameter: id. */
    String requeue() {
        return """
                %s
                SET %s
                status = 'PENDING',
                attempts = 0,
                next_attempt_at = NULL,
                done_at = NULL,
                claim_token = NULL,
                locked_by = NULL,
                locked_at = NULL,
                locked_until = NULL
                WHERE event_id = ?
                AND status = 'DEAD'
                """.formatted(sql.updateById(), sql.requeued());
    }

    /** Parameters: reason, ids, of rows that this transaction has locked. */
    String skip() {
        return """
                %s
                SET status = 'DEAD',
                last_error = ?,
                done_at = %s
                WHERE event_id = ANY(?)
                AND done_at IS NULL
                """.formatted(sql.updateById(), sql.clock());
    }

    /** Parameter: ids, of rows that this transaction has locked. */
    String discard() {
        return """
                %s
                WHERE event_id = ANY(?)
                AND status = 'DEAD'
                """.formatted(sql.deleteById());
    }
}
