package dev.idempotency.jdbi;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
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
import org.jspecify.annotations.Nullable;

/**
 * Records on MariaDB. A claim within a transaction writes the claim's row first, without waiting for anybody; the
 * completion updates that row, and proves by a savepoint that it is still the claim's transaction.
 */
class MariaDbOperationRecords extends WrittenOperationRecords {
    private final MariaDbOperationSql sql;

    MariaDbOperationRecords(MariaDbOperationSql sql, Duration retryAfter) {
        super(sql, retryAfter);
        this.sql = sql;
    }

    /**
     * Inserts first. A look before would lock the place of the missing row at SERIALIZABLE, and would give the transaction
     * a snapshot, which the insert of a row that somebody else has just written would then be at odds with.
     */
    @Override
    ClaimOutcome claim(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
        Look look = lookAtNothing(connection);
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Optional<ClaimOutcome> outcome = obstacle(look, request);
            if (outcome.isPresent()) {
                return outcome.get();
            }
            outcome = writeClaimAtOnce(connection, request, look);
            if (outcome.isPresent()) {
                return proven(connection, outcome.get());
            }
            Look committed = lookAtOnce(connection, request.id(), look);
            if (committed == null) {
                return busy();
            }
            look = committed;
        }
        throw lostTooOften();
    }

    /** The server's time, from a statement that touches no table. */
    private Look lookAtNothing(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.readClock());
                ResultSet row = statement.executeQuery()) {
            row.next();
            long nowMicros = row.getLong(1);
            return new Look(nowMicros, nowMicros, true, null);
        }
    }

    private static ClaimOutcome proven(Connection connection, ClaimOutcome outcome) throws SQLException {
        if (!(outcome instanceof ClaimOutcome.Acquired acquired)) {
            return outcome;
        }
        Claim claim = acquired.claim();
        String proof = MariaDbProof.begin(connection);
        return new ClaimOutcome.Acquired(
                new Claim(claim.request(), claim.claimId(), claim.token(), claim.attempt(), proof));
    }

    /** The lease is over from the start: should the row ever be committed alone, it is seen as abandoned. */
    private Optional<ClaimOutcome> writeClaimAtOnce(Connection connection, ClaimRequest request, Look look)
            throws SQLException {
        try {
            return writeClaim(connection, request, look, Duration.ZERO, "");
        } catch (SQLException e) {
            if (SqlErrors.isLockTimeout(e)) {
                return Optional.of(busy());
            }
            throw e;
        }
    }

    @Override
    String claiming(String statement) {
        return sql.atOnce(statement);
    }

    /** Null if somebody is writing the row. */
    private @Nullable Look lookAtOnce(Connection connection, RecordId id, Look before) throws SQLException {
        try {
            return lookAtCommitted(connection, sql.atOnce(sql.findCommitted()), id, before);
        } catch (SQLException e) {
            if (SqlErrors.isLockTimeout(e)) {
                return null;
            }
            throw e;
        }
    }

    private Look lookAtCommitted(Connection connection, String query, RecordId id, Look before) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            bindId(Parameters.of(statement), id);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? look(rows) : new Look(before.nowMicros(), before.lockedMicros(), true, null);
            }
        }
    }

    @Override
    Look awaitLook(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        return lookAtCommitted(connection, sql.findCommitted(), id, look(connection, limits, id));
    }

    @Override
    void complete(Connection connection, Claim claim, RecordedResult result) throws SQLException {
        int rows;
        try (PreparedStatement statement = connection.prepareStatement(sql.complete())) {
            bindClaim(bindResult(Parameters.of(statement), result), claim);
            rows = statement.executeUpdate();
        }
        if (!MariaDbProof.holds(connection, claim.transactionProof())) {
            throw transactionLost(null);
        }
        if (rows != 1) {
            throw claimLost();
        }
    }

    @Override
    int forgetCaller(Connection connection, TransactionLimits limits, Scope caller, int limit) throws SQLException {
        return deleteLocked(
                connection,
                sql.lockCaller(),
                parameters -> parameters.bytes(caller.callerDigest()).integer(limit));
    }

    @Override
    int deleteExpired(Connection connection, TransactionLimits limits, int limit) throws SQLException {
        int buried = sql.keepsTombstones()
                ? changeLocked(connection, sql.lockToBeBuried(), parameters -> parameters.integer(limit), sql.bury())
                : 0;
        int left = limit - buried;
        return left == 0
                ? buried
                : buried + deleteLocked(connection, sql.lockExpired(), parameters -> parameters.integer(left));
    }

    private int deleteLocked(Connection connection, String query, Binding binding) throws SQLException {
        return changeLocked(connection, query, binding, sql.delete());
    }

    /** A change of all at once would wait for every claim that is just being taken over. */
    private static int changeLocked(Connection connection, String query, Binding binding, String change)
            throws SQLException {
        try (PreparedStatement lock = connection.prepareStatement(query);
                PreparedStatement delete = connection.prepareStatement(change)) {
            binding.bind(Parameters.of(lock));
            int found = 0;
            try (ResultSet rows = lock.executeQuery()) {
                while (rows.next()) {
                    Parameters.of(delete).bytes(rows.getBytes(1)).bytes(rows.getBytes(2));
                    delete.addBatch();
                    found++;
                }
            }
            if (found > 0) {
                delete.executeBatch();
            }
            return found;
        }
    }
}
