package dev.idempotency.jdbi;

import dev.idempotency.ClaimLostException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How records are claimed, completed and forgotten on a connection whose transaction somebody else ends; what differs
 * between dialects beyond the text of a statement is left to subclasses.
 */
abstract class OperationRecords {
    /** How often a lost race is looked at again (rule T10). */
    static final int MAX_ROUNDS = 5;

    private final OperationSql sql;
    private final Duration retryAfter;

    OperationRecords(OperationSql sql, Duration retryAfter) {
        this.sql = sql;
        this.retryAfter = retryAfter;
    }

    /** Returns the records of a dialect. */
    static OperationRecords of(
            SqlDialect dialect, TableNames names, Duration retryAfter, Duration tombstones, Connection connection)
            throws SQLException {
        return switch (dialect) {
            case POSTGRESQL ->
                new PostgreSqlOperationRecords(
                        new PostgreSqlOperationSql(names, PostgreSqlLimits.probe(connection), tombstones), retryAfter);
            case MARIADB -> new MariaDbOperationRecords(new MariaDbOperationSql(names, tombstones), retryAfter);
            case H2 -> new H2OperationRecords(new H2OperationSql(names, tombstones), retryAfter);
        };
    }

    /** Claims for the transaction of the connection. */
    abstract ClaimOutcome claim(Connection connection, TransactionLimits limits, ClaimRequest request)
            throws SQLException;

    /**
     * As {@link #claim}, in a transaction in which no work will run: that the claim could be had proves that no record
     * had been committed, whatever the isolation of the pool's transactions.
     */
    ClaimOutcome probe(Connection connection, TransactionLimits limits, ClaimRequest request) throws SQLException {
        return claim(connection, limits, request);
    }

    /** Completes as the last statement of the transaction that claimed, and proves that it is still that one. */
    abstract void complete(Connection connection, Claim claim, RecordedResult result) throws SQLException;

    /** Looks the record up under whatever the dialect has of a lock on the key, without waiting for it. */
    abstract Look look(Connection connection, TransactionLimits limits, RecordId id) throws SQLException;

    /** As {@link #look}, but waits until whoever has written in the record's place has ended, where that can be told. */
    Look awaitLook(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        return look(connection, limits, id);
    }

    /** Runs a statement of the store's own transaction with its limits in force, and returns its row count. */
    abstract int update(Connection connection, TransactionLimits limits, String statement, Binding parameters)
            throws SQLException;

    /**
     * Claims with a lease, in a transaction of the store's own.
     *
     * @param own the claim that the same caller made before and whose commit is unknown: it is his if its id is there, and
     *     a successor's token proves nothing
     */
    ClaimOutcome claimLease(
            Connection connection,
            TransactionLimits limits,
            ClaimRequest request,
            Duration leaseDuration,
            Optional<Claim> own)
            throws SQLException {
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Look look = own.isPresent()
                    ? awaitLook(connection, limits, request.id())
                    : look(connection, limits, request.id());
            StoredRecord row = look.row();
            if (own.isPresent() && row != null && own.get().claimId().equals(row.claimId())) {
                return new ClaimOutcome.Acquired(own.get());
            }
            Optional<ClaimOutcome> obstacle = obstacle(look, request);
            if (obstacle.isPresent()) {
                return obstacle.get();
            }
            Optional<ClaimOutcome> written = writeClaim(connection, request, look, leaseDuration, "");
            if (written.isPresent()) {
                return written.get();
            }
        }
        throw lostTooOften();
    }

    static StoreConflictException lostTooOften() {
        return new StoreConflictException(
                "A claim lost " + MAX_ROUNDS + " races in a row for one key: repeat it a little later", null);
    }

    /** What keeps this request from running, if anything does. */
    final Optional<ClaimOutcome> obstacle(Look look, ClaimRequest request) {
        StoredRecord row = look.row();
        if (row == null || row.isAbsent()) {
            return busyUnlessLocked(look);
        }
        if (row.isExpired()) {
            return Optional.of(new ClaimOutcome.Expired());
        }
        if (!row.fingerprint().matches(request.fingerprint())) {
            return Optional.of(new ClaimOutcome.Mismatch());
        }
        if (row.result() != null) {
            return Optional.of(new ClaimOutcome.Completed(row.result()));
        }
        if (row.leaseMicros() > 0) {
            return Optional.of(inProgress(row.leaseMicros()));
        }
        if (request.abandoned() == AbandonedPolicy.REPORT_UNKNOWN) {
            return Optional.of(new ClaimOutcome.Abandoned());
        }
        return busyUnlessLocked(look);
    }

    private Optional<ClaimOutcome> busyUnlessLocked(Look look) {
        return look.isLocked() ? Optional.empty() : Optional.of(busy());
    }

    /** Somebody runs under this key in a transaction that nobody can see into. */
    final ClaimOutcome busy() {
        return new ClaimOutcome.InProgress(retryAfter);
    }

    private ClaimOutcome inProgress(long leaseMicros) {
        Duration remaining = Duration.of(leaseMicros, ChronoUnit.MICROS);
        return new ClaimOutcome.InProgress(remaining.compareTo(retryAfter) < 0 ? remaining : retryAfter);
    }

    /** The claim to be made in place of what was seen there. */
    static Claim nextClaim(ClaimRequest request, Look look, String proof) {
        StoredRecord row = look.row();
        UUID claimId = UUID.randomUUID();
        if (row == null) {
            return new Claim(request, claimId, look.lockedMicros(), 1, proof);
        }
        long token = Math.max(row.token() + 1, look.lockedMicros());
        return new Claim(request, claimId, token, row.isAbsent() ? 1 : row.attempt() + 1, proof);
    }

    /** Writes a claim's row; empty if somebody else's row appeared or changed meanwhile, so that one must look again. */
    final Optional<ClaimOutcome> writeClaim(
            Connection connection, ClaimRequest request, Look look, Duration leaseDuration, String proof)
            throws SQLException {
        Claim claim = nextClaim(request, look, proof);
        StoredRecord row = look.row();
        int rows = row == null
                ? insertClaim(connection, claim, leaseDuration)
                : replaceClaim(connection, claim, leaseDuration, row.token());
        return rows == 1 ? Optional.of(new ClaimOutcome.Acquired(claim)) : Optional.empty();
    }

    /** What a dialect puts around a statement that writes a claim. */
    String claiming(String statement) {
        return statement;
    }

    private int insertClaim(Connection connection, Claim claim, Duration leaseDuration) throws SQLException {
        ClaimRequest request = claim.request();
        Scope scope = request.id().scope();
        try (PreparedStatement statement = connection.prepareStatement(claiming(sql.insertClaim()))) {
            bindId(Parameters.of(statement), request.id())
                    .bytes(scope.callerDigest())
                    .text(OperationText.of(scope))
                    .bigint(claim.token())
                    .uuid(claim.claimId())
                    .bytes(request.fingerprint().toBytes())
                    .bigint(micros(leaseDuration))
                    .bigint(micros(request.retention()));
            return statement.executeUpdate();
        }
    }

    private int replaceClaim(Connection connection, Claim claim, Duration leaseDuration, long seen)
            throws SQLException {
        ClaimRequest request = claim.request();
        Scope scope = request.id().scope();
        try (PreparedStatement statement = connection.prepareStatement(claiming(sql.replaceClaim()))) {
            Parameters parameters = Parameters.of(statement)
                    .bytes(scope.callerDigest())
                    .text(OperationText.of(scope))
                    .bigint(claim.token())
                    .uuid(claim.claimId())
                    .integer(claim.attempt())
                    .bytes(request.fingerprint().toBytes())
                    .bigint(micros(leaseDuration))
                    .bigint(micros(request.retention()));
            bindId(parameters, request.id()).bigint(seen);
            return statement.executeUpdate();
        }
    }

    boolean extend(Connection connection, TransactionLimits limits, Claim claim, Duration leaseDuration)
            throws SQLException {
        return update(
                        connection,
                        limits,
                        sql.extend(),
                        parameters -> bindClaim(parameters.bigint(micros(leaseDuration)), claim))
                == 1;
    }

    /** Completes a claim with a lease. Doing so again says so again and keeps the first result. */
    boolean completeLease(Connection connection, TransactionLimits limits, Claim claim, RecordedResult result)
            throws SQLException {
        int rows = update(
                connection, limits, sql.complete(), parameters -> bindClaim(bindResult(parameters, result), claim));
        return rows == 1 || isCompleted(connection, claim);
    }

    private boolean isCompleted(Connection connection, Claim claim) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.findCompleted())) {
            bindClaim(Parameters.of(statement), claim);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    boolean release(Connection connection, TransactionLimits limits, Claim claim) throws SQLException {
        return update(connection, limits, sql.release(), parameters -> bindClaim(parameters, claim)) == 1;
    }

    boolean forget(Connection connection, TransactionLimits limits, RecordId id) throws SQLException {
        return update(connection, limits, sql.forget(), parameters -> bindId(parameters, id)) == 1;
    }

    int forgetCaller(Connection connection, TransactionLimits limits, Scope caller, int limit) throws SQLException {
        return update(
                connection,
                limits,
                sql.forgetCaller(),
                parameters -> parameters.bytes(caller.callerDigest()).integer(limit));
    }

    int deleteExpired(Connection connection, TransactionLimits limits, int limit) throws SQLException {
        int buried = sql.keepsTombstones()
                ? update(connection, limits, sql.buryExpired(), parameters -> parameters.integer(limit))
                : 0;
        int left = limit - buried;
        return left == 0
                ? buried
                : buried + update(connection, limits, sql.deleteExpired(), parameters -> parameters.integer(left));
    }

    final Parameters bindId(Parameters parameters, RecordId id) throws SQLException {
        return parameters.textOrBytes(sql.key(id.key())).bytes(id.scope().digest());
    }

    final Parameters bindClaim(Parameters parameters, Claim claim) throws SQLException {
        return bindId(parameters, claim.request().id()).bigint(claim.token()).uuid(claim.claimId());
    }

    /** Binds status, result status, reason, metadata and body. */
    static Parameters bindResult(Parameters parameters, RecordedResult result) throws SQLException {
        parameters.integer(status(result));
        return bindAnswer(parameters, result);
    }

    /** Binds result status, reason, metadata and body. */
    static Parameters bindAnswer(Parameters parameters, RecordedResult result) throws SQLException {
        if (result instanceof RecordedResult.Replayable replayable) {
            return parameters
                    .integer(replayable.status())
                    .text(null)
                    .bytes(replayable.metadata())
                    .bytes(replayable.body());
        }
        RecordedResult.NotReplayable notReplayable = (RecordedResult.NotReplayable) result;
        return parameters
                .integer(notReplayable.status())
                .text(OperationText.clean(notReplayable.reason(), 200))
                .bytes(null)
                .bytes(null);
    }

    static int status(RecordedResult result) {
        return result instanceof RecordedResult.Replayable ? OperationSql.COMPLETED : OperationSql.NOT_REPLAYABLE;
    }

    static long micros(Duration duration) {
        return TimeUnit.SECONDS.toMicros(duration.getSeconds()) + duration.getNano() / 1000;
    }

    static TransactionLostException transactionLost(@Nullable SQLException cause) {
        return new TransactionLostException(
                "The record could not be completed, because the transaction of the claim is no longer the running one."
                        + " Either an error that the work swallowed made the server roll it back, or the work ended it"
                        + " by a statement of its own; after a ROLLBACK nothing of what came before is left, after a"
                        + " COMMIT it is committed without its record. Let errors pass out of the work, and leave"
                        + " COMMIT and ROLLBACK to the library",
                cause);
    }

    static ClaimLostException claimLost() {
        return new ClaimLostException(
                "The record could not be completed, because somebody else's record stands in its place: roll back, and"
                        + " look it up for the answer",
                null);
    }

    /**
     * What a look-up found.
     *
     * @param nowMicros the time at which the transaction began, in microseconds since 1970
     * @param lockedMicros the time at which the key was locked, where the dialect has a lock and got it
     * @param isLocked false if somebody else's transaction holds the key
     * @param row the row, or null if there is none
     */
    record Look(
            long nowMicros,
            long lockedMicros,
            boolean isLocked,
            @Nullable StoredRecord row) {}

    /** Binds the parameters of a statement. */
    @FunctionalInterface
    interface Binding {
        Parameters bind(Parameters parameters) throws SQLException;
    }
}
