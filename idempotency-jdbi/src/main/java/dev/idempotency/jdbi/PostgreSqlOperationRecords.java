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
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/**
 * Records on PostgreSQL. A claim within a transaction writes nothing: it tries an advisory lock on the key that ends with
 * the transaction, then looks, in one execution. The record is inserted once, complete, as the last statement.
 */
class PostgreSqlOperationRecords extends OperationRecords {
    private static final long NOTHING_TO_TAKE_OVER = -1;

    private final PostgreSqlOperationSql sql;

    PostgreSqlOperationRecords(PostgreSqlOperationSql sql, Duration retryAfter) {
        super(sql, retryAfter);
        this.sql = sql;
    }

    @Override
    ClaimOutcome claim(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
        refuseUnsafe(connection);
        Look look = look(connection, limits, request.id());
        Optional<ClaimOutcome> obstacle = obstacle(look, request);
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        return new ClaimOutcome.Acquired(nextClaim(request, look, Proof.of(look).encode()));
    }

    @Override
    ClaimOutcome probe(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
        readCommitted(connection);
        return claim(connection, limits, request);
    }

    private void readCommitted(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql.readCommitted());
        }
    }

    /** The runner is perhaps not ours, so it is asked again here. */
    void refuseUnsafe(Connection connection) throws SQLException {
        Autosave.refuseAlways(connection);
    }

    @Override
    Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        return look(connection, sql.lockThenFind(), limits, id);
    }

    @Override
    Look awaitLook(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        readCommitted(connection);
        return look(connection, sql.awaitLockThenFind(), limits, id);
    }

    private Look look(Connection connection, String statements, TransactionLimits limits, RecordId id)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements)) {
            Parameters parameters = Parameters.from(statement, sql.limits().bind(statement, 1, limits))
                    .bigint(id.lockHash());
            bindId(parameters, id);
            statement.execute();
            long nowMicros;
            long lockedMicros;
            boolean locked;
            try (ResultSet lock = statement.getResultSet()) {
                lock.next();
                nowMicros = lock.getLong("now_micros");
                lockedMicros = lock.getLong("locked_micros");
                locked = !lock.wasNull();
            }
            statement.getMoreResults();
            try (ResultSet rows = statement.getResultSet()) {
                return new Look(nowMicros, lockedMicros, locked, rows.next() ? StoredRecord.read(rows) : null);
            }
        }
    }

    @Override
    void complete(Connection connection, Claim claim, RecordedResult result) throws SQLException {
        Proof proof = Proof.decode(claim.transactionProof());
        try {
            if (insertCompleted(connection, claim, proof, result) != 1) {
                throw isProven(connection, proof) ? claimLost() : transactionLost(null);
            }
        } catch (SQLException e) {
            if (SqlErrors.isInFailedTransaction(e)) {
                throw transactionLost(e);
            }
            throw e;
        }
    }

    private int insertCompleted(Connection connection, Claim claim, Proof proof, RecordedResult result)
            throws SQLException {
        ClaimRequest request = claim.request();
        Scope scope = request.id().scope();
        try (PreparedStatement statement = connection.prepareStatement(sql.completeTransaction())) {
            Parameters parameters = bindId(Parameters.of(statement), request.id())
                    .bytes(scope.callerDigest())
                    .text(OperationText.of(scope))
                    .integer(status(result))
                    .bigint(claim.token())
                    .integer(claim.attempt())
                    .bytes(request.fingerprint().toBytes());
            bindAnswer(parameters, result)
                    .bigint(micros(request.retention()))
                    .bigint(proof.transactionStartMicros())
                    .bigint(proof.tokenToTakeOver());
            return statement.executeUpdate();
        }
    }

    private boolean isProven(Connection connection, Proof proof) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.proveTransaction())) {
            statement.setLong(1, proof.transactionStartMicros());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    /** A key that somebody runs under is not forgotten: nothing would be there yet, and the record would come later. */
    @Override
    boolean forget(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        return look(connection, limits, id).isLocked() && super.forget(connection, limits, id);
    }

    /** Two statements, so that the second one sees what was written while the first waited. */
    @Override
    int forgetCaller(Connection connection, TransactionLimits limits, Scope caller, int limit) throws SQLException {
        update(
                connection,
                limits,
                sql.lockCaller(),
                parameters -> parameters.bytes(caller.callerDigest()).integer(limit));
        return super.forgetCaller(connection, limits, caller, limit);
    }

    @Override
    int update(Connection connection, TransactionLimits limits, String statement, Binding binding) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql.limited(statement))) {
            binding.bind(Parameters.from(prepared, sql.limits().bind(prepared, 1, limits)));
            prepared.execute();
            prepared.getMoreResults();
            return prepared.getUpdateCount();
        }
    }

    /**
     * What the completion needs to know of the claim.
     *
     * @param transactionStartMicros when the claim's transaction began; no other of the session began in the same
     *     microsecond
     * @param tokenToTakeOver the token of the abandoned claim that may be overwritten, or -1
     */
    private record Proof(long transactionStartMicros, long tokenToTakeOver) {
        static Proof of(Look look) {
            StoredRecord row = look.row();
            return new Proof(look.nowMicros(), row == null || row.isAbsent() ? NOTHING_TO_TAKE_OVER : row.token());
        }

        static Proof decode(String text) {
            int separator = text.indexOf('/');
            if (separator < 0) {
                throw new IllegalArgumentException("The claim was not made by this store in a transaction");
            }
            return new Proof(
                    Long.parseLong(text.substring(0, separator)), Long.parseLong(text.substring(separator + 1)));
        }

        String encode() {
            return transactionStartMicros + "/" + tokenToTakeOver;
        }
    }
}
