package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The statements on {@code idempotency_record} as MariaDB 11 says them. */
class MariaDbOperationSql extends OperationSql {
    private final String expiresAt;

    MariaDbOperationSql(TableNames names, Duration tombstones) {
        super(names, tombstones);
        this.expiresAt = names.part("idempotency_record_expires_at");
    }

    @Override
    Object key(IdempotencyKey key) {
        return key.value().getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    String now() {
        return MariaDbSession.NOW;
    }

    @Override
    String later(String now) {
        return now + " + INTERVAL ? MICROSECOND";
    }

    @Override
    String shifted(String time, long micros) {
        return "(" + time + " + INTERVAL " + micros + " MICROSECOND)";
    }

    @Override
    String micros(String time) {
        return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + time + ")";
    }

    @Override
    String epoch() {
        return "'1970-01-01'";
    }

    String readClock() {
        return "SELECT " + micros(now());
    }

    /**
     * Writes no row where there is one. An error would do as well, but the driver logs it, and its text holds the key. All
     * values fit their columns, so there is nothing else to be ignored.
     */
    @Override
    String insertClaim() {
        return super.insertClaim().replaceFirst("INSERT INTO", "INSERT IGNORE INTO");
    }

    @Override
    String forget() {
        return atOnce(super.forget());
    }

    /** Waits for no lock: a claim that finds somebody at work says so at once. */
    String atOnce(String statement) {
        return "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " + statement;
    }

    /**
     * The row as it is committed now, or as this transaction wrote it, whatever the transaction's snapshot; a row that
     * somebody else is writing is waited for. Parameters: key, scope.
     */
    String findCommitted() {
        return """
                SELECT %s AS now_micros, %s FROM %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                LOCK IN SHARE MODE
                """.formatted(micros(now()), recordColumns(), table);
    }

    /** Ids of records past their retention, locked; those that others have locked are passed over. Parameter: limit. */
    String lockExpired() {
        return """
                SELECT idempotency_key, scope_digest
                FROM %1$s FORCE INDEX (%4$s)
                WHERE %2$s
                AND NOT %3$s
                ORDER BY expires_at
                LIMIT ?
                FOR UPDATE SKIP LOCKED
                """.formatted(table, over(now()), live(now()), expiresAt);
    }

    /** As {@link #lockExpired()}, of records that leave a tombstone. Parameter: limit. */
    String lockToBeBuried() {
        return """
                SELECT idempotency_key, scope_digest
                FROM %1$s FORCE INDEX (%3$s)
                WHERE %2$s
                ORDER BY expires_at
                LIMIT ?
                FOR UPDATE SKIP LOCKED
                """.formatted(table, toBeBuried(now()), expiresAt);
    }

    /** Parameters: key, scope. */
    String bury() {
        return """
                UPDATE %s
                SET %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                """.formatted(table, buried());
    }

    /** As {@link #lockExpired()}, of a caller. Parameters: caller, limit. */
    String lockCaller() {
        return """
                SELECT idempotency_key, scope_digest
                FROM %1$s
                WHERE caller_digest = ?
                AND NOT %2$s
                LIMIT ?
                FOR UPDATE SKIP LOCKED
                """.formatted(table, live(now()));
    }

    /** Parameters: key, scope. */
    String delete() {
        return """
                DELETE FROM %s
                WHERE idempotency_key = ?
                AND scope_digest = ?
                """.formatted(table);
    }

    @Override
    String forgetCaller() {
        throw new UnsupportedOperationException("MariaDB locks first and deletes then");
    }

    @Override
    String buryExpired() {
        throw new UnsupportedOperationException("MariaDB locks first and buries then");
    }

    @Override
    String deleteExpired() {
        throw new UnsupportedOperationException("MariaDB locks first and deletes then");
    }
}
