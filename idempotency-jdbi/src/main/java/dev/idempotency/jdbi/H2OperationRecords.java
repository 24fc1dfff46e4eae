package dev.idempotency.jdbi;

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
class H2OperationRecords extends WrittenOperationRecords {
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
