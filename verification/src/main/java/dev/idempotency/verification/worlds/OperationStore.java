package dev.idempotency.verification.worlds;

import dev.idempotency.ClaimLostException;
import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreException;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.IdempotencyStore;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the two simulated stores of operations share: what a record is, what stands in a claim's way, how errors are told. */
abstract class OperationStore implements IdempotencyStore {
    static final Duration RETRY_AFTER = Duration.ofSeconds(1);
    static final int MAX_ROUNDS = 5;

    final Actor actor;
    final SeededFault fault;
    final SimulatedRunner runner;

    OperationStore(Actor actor, SeededFault fault) {
        this.actor = actor;
        this.fault = fault;
        this.runner = new SimulatedRunner(actor, fault);
    }

    /**
     * A row of the table of records.
     *
     * @param token the fencing token of its last claim
     * @param attempt which owner that was
     * @param result the result, or null while it is claimed
     * @param leaseUntil when the lease is over, by the database's clock
     * @param absent true once it has been released: it counts as absent and only keeps the token
     */
    record Row(long token, int attempt, @Nullable RecordedResult result, int leaseUntil, boolean absent) {
        boolean isLive(int now) {
            return result == null && !absent && leaseUntil > now;
        }

        @Override
        public String toString() {
            String state = absent ? "released" : result == null ? "claimed" : "completed " + text(result);
            return state + ", token " + token;
        }
    }

    static String text(RecordedResult result) {
        return result instanceof RecordedResult.Replayable replayable
                ? "by " + new String(replayable.body(), java.nio.charset.StandardCharsets.US_ASCII)
                : "without an answer";
    }

    /**
     * What a claim has seen.
     *
     * @param isLocked false if another transaction holds the key
     * @param serial which of the server's transactions this is
     * @param now the time by which leases are judged
     * @param row the row, or null
     */
    record Look(
            boolean isLocked, int serial, int now, @Nullable Row row) {}

    /** Where the record stands; scope and key are told apart by the scope's digest. */
    final String cell(RecordId id) {
        String key = id.key().value();
        if (fault == SeededFault.JOINED_KEYS) {
            return "record/" + id.scope().operation() + ":" + key;
        }
        return "record/"
                + HexFormat.of().formatHex(id.scope().digest(), 0, 3)
                + "/"
                + (fault == SeededFault.FOLDED_KEYS ? key.toLowerCase(Locale.ROOT) : key);
    }

    /** The time by which this instance judges leases. */
    final int clock(Sql sql) {
        return sql.state().now() + (fault == SeededFault.INSTANCE_CLOCK && actor.process() == 1 ? 1 : 0);
    }

    /** What keeps this request from running, if anything does. */
    final Optional<ClaimOutcome> obstacle(Look look, ClaimRequest request) {
        Row row = look.row();
        if (row == null || row.absent()) {
            return busyUnlessLocked(look);
        }
        if (row.result() != null) {
            return fault == SeededFault.UNREADABLE_RUNS_AGAIN && row.result() instanceof RecordedResult.NotReplayable
                    ? Optional.empty()
                    : Optional.of(new ClaimOutcome.Completed(row.result()));
        }
        if (row.isLive(look.now())) {
            return Optional.of(new ClaimOutcome.InProgress(RETRY_AFTER));
        }
        if (request.abandoned() == AbandonedPolicy.REPORT_UNKNOWN) {
            return Optional.of(new ClaimOutcome.Abandoned());
        }
        return busyUnlessLocked(look);
    }

    private static Optional<ClaimOutcome> busyUnlessLocked(Look look) {
        return look.isLocked() ? Optional.empty() : Optional.of(new ClaimOutcome.InProgress(RETRY_AFTER));
    }

    /** The token is unique to the claim, as the contract says; here it is made of who claims in which transaction. */
    static Claim nextClaim(SimulatedTransaction transaction, ClaimRequest request, Look look, String proof) {
        Row row = look.row();
        int attempt = row == null || row.absent() ? 1 : row.attempt() + 1;
        return new Claim(request, new UUID(0, transaction.number()), transaction.number(), attempt, proof);
    }

    static StoreConflictException lostTooOften() {
        return new StoreConflictException("A claim lost too many races in a row", null);
    }

    static ClaimLostException claimLost() {
        return new ClaimLostException("Somebody else's record stands in the place", null);
    }

    static TransactionLostException transactionLost() {
        return new TransactionLostException("The transaction is not that of the claim any more", null);
    }

    /** Calls the database and tells its errors as the contract of a store says. */
    static <T> T told(Supplier<T> call) {
        try {
            return call.get();
        } catch (DatabaseError e) {
            throw translated(e);
        }
    }

    static IdempotencyException translated(DatabaseError error) {
        return switch (error.kind()) {
            case CONFLICT, LOCK_TIMEOUT -> new StoreConflictException("Lost against a concurrent transaction", error);
            case CONNECTION_LOST, COMMIT_UNKNOWN -> new StoreUnavailableException("The connection is lost", error);
            case IN_FAILED_TRANSACTION -> new TransactionLostException("The transaction has failed", error);
            case DUPLICATE_KEY -> new StoreException("The store refused", error);
        };
    }

    final TransactionLimits limits() {
        return TransactionLimits.ofDefaults();
    }

    @Override
    public final boolean forget(RecordId id) {
        throw new UnsupportedOperationException("No world forgets records");
    }

    @Override
    public final int forgetCaller(Scope caller, int limit) {
        throw new UnsupportedOperationException("No world forgets records");
    }

    @Override
    public final int deleteExpired(int limit) {
        throw new UnsupportedOperationException("No world forgets records");
    }
}
