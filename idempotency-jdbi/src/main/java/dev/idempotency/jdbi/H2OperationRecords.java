package dev.idempotency.jdbi;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/**
 * Records on H2. A claim within a transaction writes the claim's row first, without waiting for anybody; the completion
 * updates that row, and so finds out if a rollback has taken it away.
 */
class H2OperationRecords extends OperationRecords {
    private final H2OperationSql sql;

    H2OperationRecords(H2OperationSql sql, Duration retryAfter) {
        super(sql, retryAfter);
        this.sql = sql;
    }

    @Override
    ClaimOutcome claim(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Look look = look(connection, limits, request.id());
            Optional<ClaimOutcome> outcome = obstacle(look, request);
            if (outcome.isEmpty()) {
                outcome = writeClaimAtOnce(connection, request, look);
            }
            if (outcome.isPresent()) {
                return outcome.get();
            }
        }
        throw lostTooOften();
    }

    /** The lease is over from the start: should the row ever be committed alone, it is seen as abandoned. */
    private Optional<ClaimOutcome> writeClaimAtOnce(Connection connection, ClaimRequest request, Look look)
            throws SQLException {
        int lockTimeout = Math.toIntExact(number(connection, sql.lockTimeout()));
        execute(connection, sql.setLockTimeout(0));
        try {
            Optional<ClaimOutcome> outcome = writeClaim(connection, request, look, Duration.ZERO, "");
            if (outcome.isPresent() && outcome.get() instanceof ClaimOutcome.Acquired acquired) {
                return Optional.of(withProof(acquired.claim(), number(connection, sql.transactionId())));
            }
            return outcome;
        } catch (SQLException e) {
            if (SqlErrors.isDuplicateKey(e)) {
                return Optional.empty();
            }
            if (SqlErrors.isLockTimeout(e)) {
                return Optional.of(busy());
            }
            throw e;
        } finally {
            execute(connection, sql.setLockTimeout(lockTimeout));
        }
    }

    private static ClaimOutcome withProof(Claim claim, long transactionId) {
        return new ClaimOutcome.Acquired(new Claim(
                claim.request(), claim.claimId(), claim.token(), claim.attempt(), Long.toString(transactionId)));
    }

    @Override
    Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.find())) {
            bindId(Parameters.of(statement), id);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                long nowMicros = rows.getLong("now_micros");
                return new Look(nowMicros, nowMicros, true, StoredRecord.read(rows));
            }
        }
    }

    @Override
    void complete(Connection connection, Claim claim, RecordedResult result) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.completeTransaction())) {
            Parameters parameters = bindResult(Parameters.of(statement), result);
            bindClaim(parameters, claim).bigint(Long.parseLong(claim.transactionProof()));
            if (statement.executeUpdate() == 1) {
                return;
            }
        }
        throw claim.transactionProof().equals(Long.toString(number(connection, sql.transactionId())))
                ? claimLost()
                : transactionLost(null);
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

    /** A row that another transaction holds is a claim that runs. */
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

    /** The runner has put the limits in force for the session. */
    @Override
    int update(Connection connection, TransactionLimits limits, String statement, Binding binding) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            binding.bind(Parameters.of(prepared));
            return prepared.executeUpdate();
        }
    }

    private static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }
}
