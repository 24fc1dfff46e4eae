package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyKey;
import java.time.Duration;

/** The statements on {@code idempotency_record} as PostgreSQL 14 and later say them. */
class PostgreSqlOperationSql extends OperationSql {
    private final PostgreSqlLimits limits;

    PostgreSqlOperationSql(TableNames names, PostgreSqlLimits limits) {
        this(names, limits, Duration.ZERO);
    }

    PostgreSqlOperationSql(TableNames names, PostgreSqlLimits limits, Duration tombstones) {
        super(names, tombstones);
        this.limits = limits;
    }

    @Override
    Object key(IdempotencyKey key) {
        return key.value();
    }

    /** The time at which the transaction began: what is absent at the claim is so at the completion. */
    @Override
    String now() {
        return "now()";
    }

    @Override
    String clock() {
        return "clock_timestamp()";
    }

    @Override
    String later(String now) {
        return now + " + ? * interval '1 microsecond'";
    }

    @Override
    String shifted(String time, long micros) {
        return "(" + time + " + interval '" + micros + " microseconds')";
    }

    @Override
    String micros(String time) {
        return "(extract(epoch FROM " + time + ") * 1000000)::bigint";
    }

    @Override
    String epoch() {
        return "to_timestamp(0)";
    }

    /**
     * Two statements in one execution, so that the second one's snapshot is younger than the lock: looking first lets a
     * duplicate run whose original commits in between. Parameters: three limits, lock hash, key, scope.
     */
    String lockThenFind() {
        return lock("pg_try_advisory_xact_lock(?)") + ";\n" + findRow();
    }

    /**
     * Puts a look-up's snapshot behind its lock also where the pool's transactions have one snapshot from their first
     * statement on (REPEATABLE READ, SERIALIZABLE): looked up with that, a commit that the lock had to wait for would be
     * missing, and its absence would be taken for proof. Nothing is left behind in the session.
     */
    String readCommitted() {
        return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
    }

    /** As {@link #lockThenFind()}, but waits for the lock as long as the limits allow. */
    String awaitLockThenFind() {
        return lock("pg_advisory_xact_lock(?) IS NOT NULL") + ";\n" + findRow();
    }

    /** The time of the lock is taken after it was given, so that tokens grow in the order of the locks; null without it. */
    String lock(String function) {
        return """
                SELECT %s,
                %s AS now_micros,
                CASE WHEN %s THEN %s END AS locked_micros
                """.formatted(limits.columns(), micros(now()), function, micros(clock()));
    }

    String findRow() {
        return """
                SELECT %s
                FROM %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                """.formatted(recordColumns(), table);
    }

    /** Puts the limits in force before another statement of the same execution. Parameters: three limits. */
    String limited(String statement) {
        return "SELECT " + limits.columns() + ";\n" + statement;
    }

    PostgreSqlLimits limits() {
        return limits;
    }

    @Override
    String insertClaim() {
        return super.insertClaim() + "ON CONFLICT (idempotency_key, scope_digest) DO NOTHING";
    }

    /**
     * Writes the whole record at the end of the transaction that claimed it: {@code now()} proves that it is still that
     * one. Overwrites what was absent when the transaction began, and the abandoned claim that was to be taken over.
     * Parameters: key, scope, caller, operation, status, token, attempt, fingerprint, result status, reason, metadata,
     * body, retention in microseconds, transaction start in microseconds, token to take over.
     */
    String completeTransaction() {
        return """
                INSERT INTO %1$s AS r (
                idempotency_key, scope_digest, caller_digest, operation,
                status, fencing_token, attempt, fingerprint,
                result_status, result_reason, result_metadata, result_body,
                created_at, completed_at, expires_at)
                SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now(), clock_timestamp(), %2$s
                WHERE %3$s = ?
                ON CONFLICT (idempotency_key, scope_digest) DO UPDATE
                SET caller_digest = excluded.caller_digest,
                operation = excluded.operation,
                status = excluded.status,
                fencing_token = excluded.fencing_token,
                attempt = excluded.attempt,
                fingerprint = excluded.fingerprint,
                result_status = excluded.result_status,
                result_reason = excluded.result_reason,
                result_metadata = excluded.result_metadata,
                result_body = excluded.result_body,
                created_at = excluded.created_at,
                completed_at = excluded.completed_at,
                lease_until = NULL,
                claim_id = NULL,
                expires_at = excluded.expires_at
                WHERE (%4$s OR (r.status = 1 AND r.fencing_token = ?))
                AND NOT (r.status = 1 AND r.lease_until IS NOT NULL AND r.lease_until > now())
                """.formatted(table, later(now()), micros(now()), overOfRow());
    }

    /** Its own row and the excluded one are both in sight there. */
    private String overOfRow() {
        return over(now()).replace("expires_at", "r.expires_at").replace("status", "r.status");
    }

    /** One row if the transaction began at this time. Parameter: transaction start in microseconds. */
    String proveTransaction() {
        return "SELECT 1 WHERE " + micros(now()) + " = ?";
    }

    /**
     * Waits for whoever has a record of the caller in hand, the sweep for instance, which may make a tombstone of it. In the
     * order of the keys, so that two of these do not wait for each other. Parameters: caller, limit.
     */
    String lockCaller() {
        return """
                SELECT 1
                FROM %1$s
                WHERE caller_digest = ?
                AND NOT %2$s
                ORDER BY idempotency_key, scope_digest
                LIMIT ?
                FOR UPDATE
                """.formatted(table, live("now()"));
    }

    @Override
    String forgetCaller() {
        return """
                DELETE FROM %1$s
                WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM %1$s
                WHERE caller_digest = ?
                AND NOT %2$s
                LIMIT ?
                FOR UPDATE SKIP LOCKED))
                """.formatted(table, live("now()"));
    }

    @Override
    String deleteExpired() {
        return """
                DELETE FROM %1$s
                WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM %1$s
                WHERE %3$s
                AND NOT %2$s
                ORDER BY expires_at
                LIMIT ?
                FOR UPDATE SKIP LOCKED))
                """.formatted(table, live("now()"), over("now()"));
    }

    @Override
    String buryExpired() {
        return """
                UPDATE %1$s
                SET %2$s
                WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM %1$s
                WHERE %3$s
                ORDER BY expires_at
                LIMIT ?
                FOR UPDATE SKIP LOCKED))
                """.formatted(table, buried(), toBeBuried("now()"));
    }
}
