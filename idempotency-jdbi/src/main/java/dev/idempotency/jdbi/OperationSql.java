package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyKey;
import java.time.Duration;

/**
 * The statements on {@code idempotency_record}, named after the store's methods; a dialect overrides what it says
 * differently. Parameters are listed in their order.
 *
 * <p>A row counts as <em>live</em> while its lease runs. Past its retention it is <em>absent</em> when it is not live
 * (released rows have expired in 1970); where tombstones are kept, it is a <em>tombstone</em> before that.
 */
abstract class OperationSql {
    /** Claimed by an owner with a lease. */
    static final int IN_PROGRESS = 1;

    /** Over, with an answer to replay. */
    static final int COMPLETED = 2;

    /** Over, without one. */
    static final int NOT_REPLAYABLE = 3;

    /** Past its retention, and buried by the sweep: its end is that of the tombstone, and nothing of its answer is left. */
    static final int TOMBSTONE = 5;

    final String table;
    private final long tombstoneMicros;

    OperationSql(TableNames names) {
        this(names, Duration.ZERO);
    }

    OperationSql(TableNames names, Duration tombstones) {
        this.table = names.table("idempotency_record");
        this.tombstoneMicros = OperationRecords.micros(tombstones);
    }

    /** The key as a parameter, in the type of the column. */
    abstract Object key(IdempotencyKey key);

    /** The database's time, the same throughout a transaction or at least a statement. */
    abstract String now();

    /** The time after {@code now} by a parameter in microseconds. */
    abstract String later(String now);

    /** The time before or after {@code time} by so many microseconds. */
    abstract String shifted(String time, long micros);

    /** Microseconds since 1970 of a time. */
    abstract String micros(String time);

    /** The first instant of 1970. */
    abstract String epoch();

    /** The database's time at this very moment, where the dialect knows it; leases are counted by it. */
    String clock() {
        return now();
    }

    /** Past its retention, and past its time as a tombstone. */
    final String over(String now) {
        return keepsTombstones()
                ? "(expires_at <= " + now + " AND (status = 5 OR expires_at <= " + shifted(now, -tombstoneMicros) + "))"
                : "expires_at <= " + now;
    }

    final boolean keepsTombstones() {
        return tombstoneMicros > 0;
    }

    String live(String now) {
        return "(status = 1 AND lease_until IS NOT NULL AND lease_until > " + now + ")";
    }

    /** What is read of a row, by these names and in this order. */
    String recordColumns() {
        return """
                status,
                fingerprint,
                fencing_token,
                claim_id,
                attempt,
                result_status,
                result_reason,
                result_metadata,
                result_body,
                CASE WHEN %5$s AND NOT %2$s THEN 1 ELSE 0 END AS is_absent,
                CASE WHEN (status = 5 OR expires_at <= %1$s) AND NOT %2$s THEN 1 ELSE 0 END AS is_expired,
                CASE WHEN %2$s THEN %3$s - %4$s ELSE 0 END AS lease_micros
                """.formatted(now(), live(now()), micros("lease_until"), micros(now()), over(now()));
    }

    /**
     * Always one row: the database's time in microseconds, and the record's columns, null where there is none.
     * Parameters: key, scope.
     */
    String find() {
        return """
                SELECT %s AS now_micros, r.*
                FROM (SELECT 1 AS one) o
                LEFT JOIN (
                SELECT %s FROM %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                ) r ON 1 = 1
                """.formatted(micros(now()), recordColumns(), table);
    }

    /**
     * Writes a claim where there is no row; fails on a duplicate key, or writes no row where the dialect can say so.
     * Parameters: key, scope, caller, operation, token, claim id, fingerprint, lease and retention in microseconds.
     */
    String insertClaim() {
        return """
                INSERT INTO %1$s (
                idempotency_key, scope_digest, caller_digest, operation,
                status, fencing_token, claim_id, attempt, fingerprint,
                created_at, lease_until, expires_at)
                VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, %2$s, %3$s, %4$s)
                """.formatted(table, now(), later(clock()), later(now()));
    }

    /**
     * Writes a claim over a row that is absent or abandoned, if it is still the one that was seen. Parameters: caller,
     * operation, token, claim id, attempt, fingerprint, lease and retention in microseconds, key, scope, token seen.
     */
    String replaceClaim() {
        return """
                UPDATE %1$s
                SET caller_digest = ?, operation = ?,
                status = 1, fencing_token = ?, claim_id = ?, attempt = ?, fingerprint = ?,
                result_status = NULL, result_reason = NULL, result_metadata = NULL, result_body = NULL,
                created_at = %2$s, completed_at = NULL, lease_until = %3$s, expires_at = %4$s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND fencing_token = ?
                AND (status = 1 OR %6$s)
                AND NOT %5$s
                """.formatted(table, now(), later(clock()), later(now()), live(now()), over(now()));
    }

    /**
     * Ends a claim with its result, fenced by its token and id. Parameters: status, result status, reason, metadata, body,
     * key, scope, token, claim id.
     */
    String complete() {
        return """
                UPDATE %1$s
                SET status = ?,
                result_status = ?, result_reason = ?, result_metadata = ?, result_body = ?,
                completed_at = %2$s, lease_until = NULL
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND fencing_token = ?
                AND claim_id = ?
                AND status = 1
                """.formatted(table, clock());
    }

    /** One row if this claim has been completed. Parameters: key, scope, token, claim id. */
    String findCompleted() {
        return """
                SELECT 1
                FROM %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND fencing_token = ?
                AND claim_id = ?
                AND status <> 1
                """.formatted(table);
    }

    /** Lengthens a lease that still runs. Parameters: lease in microseconds, key, scope, token, claim id. */
    String extend() {
        return """
                UPDATE %1$s
                SET lease_until = %2$s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND fencing_token = ?
                AND claim_id = ?
                AND %3$s
                """.formatted(table, later(clock()), live(clock()));
    }

    /**
     * Makes a claim's row absent. It stays until it is swept or claimed, so that the next token is greater than this
     * one even if the clock was set back; it loses its id, so that its owner can neither end it twice nor complete it.
     * Parameters: key, scope, token, claim id.
     */
    String release() {
        return """
                UPDATE %1$s
                SET claim_id = NULL, lease_until = %2$s, expires_at = %2$s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND fencing_token = ?
                AND claim_id = ?
                AND status = 1
                """.formatted(table, epoch());
    }

    /** Parameters: key, scope. */
    String forget() {
        return """
                DELETE FROM %1$s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                AND NOT %2$s
                """.formatted(table, live(now()));
    }

    /** Parameters: caller, limit. */
    abstract String forgetCaller();

    /** Deletes what is over and not live. Parameter: limit. */
    abstract String deleteExpired();

    /**
     * Makes tombstones of what is past its retention, and not live or over: the answer goes, and the row expires anew, so
     * that the sweep meets it once more and not each time. Parameter: limit.
     */
    abstract String buryExpired();

    /** What is to be buried. */
    final String toBeBuried(String now) {
        return "expires_at <= %1$s AND NOT %2$s AND NOT %3$s".formatted(now, over(now), live(now));
    }

    /** What burying sets. */
    final String buried() {
        return """
                status = 5, claim_id = NULL, lease_until = NULL,
                result_status = NULL, result_reason = NULL, result_metadata = NULL, result_body = NULL,
                expires_at = %s
                """.formatted(shifted("expires_at", tombstoneMicros));
    }
}
