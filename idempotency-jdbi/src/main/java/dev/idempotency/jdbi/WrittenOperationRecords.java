package dev.idempotency.jdbi;

import dev.idempotency.RecordId;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * Records on a database on which a claim within a transaction is a row, written first and without waiting for anybody: a
 * row that somebody else has written and not committed is a claim that runs. The limits are those of the session, which the
 * runner has put in force.
 */
abstract class WrittenOperationRecords extends OperationRecords {
    private final OperationSql sql;

    WrittenOperationRecords(OperationSql sql, Duration retryAfter) {
        super(sql, retryAfter);
        this.sql = sql;
    }

    @Override
    Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.find())) {
            bindId(Parameters.of(statement), id);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return look(rows);
            }
        }
    }

    static Look look(ResultSet row) throws SQLException {
        long nowMicros = row.getLong("now_micros");
        return new Look(nowMicros, nowMicros, true, StoredRecord.read(row));
    }

    @Override
    ClaimOutcome claimLease(
            Connection connection,
            TransactionLimits limits,
            ClaimRequest request,
            Duration leaseDuration,
            Optional<Claim> own)
            throws SQLException {
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            try {
                return super.claimLease(connection, limits, request, leaseDuration, own);
            } catch (SQLException e) {
                if (SqlErrors.isLockTimeout(e)) {
                    return busy();
                }
                if (!SqlErrors.isDuplicateKey(e)) {
                    throw e;
                }
            }
        }
        throw lostTooOften();
    }

    @Override
    boolean forget(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        try {
            return super.forget(connection, limits, id);
        } catch (SQLException e) {
            if (SqlErrors.isLockTimeout(e)) {
                return false;
            }
            throw e;
        }
    }

    @Override
    int update(Connection connection, TransactionLimits limits, String statement, Binding binding) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            binding.bind(Parameters.of(prepared));
            return prepared.executeUpdate();
        }
    }
}
