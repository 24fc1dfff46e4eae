package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The statements on {@code idempotency_record} as H2 2.x says them. */
class H2OperationSql extends OperationSql {
    H2OperationSql(TableNames names) {
        super(names);
    }

    H2OperationSql(TableNames names, Duration tombstones) {
        super(names, tombstones);
    }

    @Override
    Object key(IdempotencyKey key) {
        return key.value().getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    String now() {
        return "CURRENT_TIMESTAMP(6)";
    }

    @Override
    String later(String now) {
        return "DATEADD(MICROSECOND, ?, " + now + ")";
    }

    @Override
    String shifted(String time, long micros) {
        return "DATEADD(MICROSECOND, " + micros + ", " + time + ")";
    }

    @Override
    String micros(String time) {
        return "CAST(EXTRACT(EPOCH FROM " + time + ") * 1000000 AS BIGINT)";
    }

    @Override
    String epoch() {
        return "TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'";
    }

    /** As {@link #complete()}, if the transaction is still the claim's. Parameters: those and the transaction's id. */
    String completeTransaction() {
        return complete() + "AND TRANSACTION_ID() = ?";
    }

    /** The id of the running transaction, once it has written; another one after it has ended in any way. */
    String transactionId() {
        return "SELECT TRANSACTION_ID()";
    }

    String lockTimeout() {
        return "SELECT LOCK_TIMEOUT()";
    }

    String setLockTimeout(int milliseconds) {
        return "SET LOCK_TIMEOUT " + milliseconds;
    }

    @Override
    String forgetCaller() {
        return """
                DELETE FROM %1$s
                WHERE caller_digest = ?
                AND NOT %2$s
                FETCH FIRST ? ROWS ONLY
                """.formatted(table, live(now()));
    }

    @Override
    String deleteExpired() {
        return """
                DELETE FROM %1$s
                WHERE %2$s
                AND NOT %3$s
                FETCH FIRST ? ROWS ONLY
                """.formatted(table, over(now()), live(now()));
    }

    @Override
    String buryExpired() {
        return """
                UPDATE %1$s
                SET %2$s
                WHERE %3$s
                FETCH FIRST ? ROWS ONLY
                """.formatted(table, buried(), toBeBuried(now()));
    }
}
