package dev.idempotency.verification.worlds;

import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordedResult;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Claims that are committed first and last as long as their lease, which here is one unit of time. */
final class LeasedOperations extends PostgreSqlOperations implements LeasedIdempotencyStore {
    private OptionalLong written = OptionalLong.empty();
    private @Nullable Claim held;

    LeasedOperations(Actor actor, SeededFault fault) {
        super(actor, fault);
    }

    @Override
    public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
        written = OptionalLong.empty();
        ClaimOutcome outcome;
        try {
            outcome = claimOnce(request, OptionalLong.empty());
        } catch (OutcomeUnknownException e) {
            outcome = resolve(request, e);
        }
        held = outcome instanceof ClaimOutcome.Acquired acquired ? acquired.claim() : null;
        return outcome;
    }

    /** Looks again under the lock: the claim's row is there with its token, or the commit did not happen (rule T6). */
    private ClaimOutcome resolve(ClaimRequest request, OutcomeUnknownException unknown) {
        if (fault == SeededFault.UNKNOWN_CLAIM_IS_MINE && written.isPresent()) {
            return new ClaimOutcome.Acquired(
                    new Claim(request, new UUID(0, written.getAsLong()), written.getAsLong(), 1, ""));
        }
        try {
            return claimOnce(request, written);
        } catch (IdempotencyException e) {
            unknown.addSuppressed(e);
            throw unknown;
        }
    }

    private ClaimOutcome claimOnce(ClaimRequest request, OptionalLong own) {
        String cell = cell(request.id());
        return runner.<ClaimOutcome, RuntimeException>run(limits(), transaction -> {
            SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
            ClaimOutcome outcome = told(() -> claimIn(joined, cell, request, own));
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                written = OptionalLong.of(acquired.claim().token());
            } else {
                transaction.setRollbackOnly();
            }
            return outcome;
        });
    }

    private ClaimOutcome claimIn(
            SimulatedTransaction transaction, String cell, ClaimRequest request, OptionalLong own) {
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Look look = own.isPresent() ? awaitLook(transaction, cell) : look(transaction, request.id());
            Row row = look.row();
            if (own.isPresent() && row != null && row.token() == own.getAsLong() && row.result() == null) {
                return new ClaimOutcome.Acquired(
                        new Claim(request, new UUID(0, row.token()), row.token(), row.attempt(), ""));
            }
            Optional<ClaimOutcome> obstacle = obstacle(look, request);
            if (obstacle.isPresent()) {
                return obstacle.get();
            }
            Claim claim = nextClaim(transaction, request, look, "");
            boolean done = transaction.statement(
                    "write the claim " + cell, Boolean.class, sql -> write(sql, cell, look.row(), claim));
            if (done || fault == SeededFault.DUPLICATE_IS_ACQUIRED) {
                return new ClaimOutcome.Acquired(claim);
            }
        }
        throw lostTooOften();
    }

    private Look awaitLook(SimulatedTransaction transaction, String cell) {
        transaction.statement("wait for the lock " + cell, sql -> {
            sql.lock(cell);
            return "locked";
        });
        return find(transaction, cell, true);
    }

    private boolean write(Sql sql, String cell, @Nullable Row seen, Claim claim) {
        sql.await(cell);
        Row present = sql.find(cell, Row.class);
        boolean unchanged = present == null
                ? seen == null
                : seen != null
                        && present.token() == seen.token()
                        && present.result() == null
                        && !present.isLive(clock(sql));
        if (unchanged) {
            sql.write(
                    cell,
                    new Row(claim.token(), claim.attempt(), null, sql.state().now() + 1, false));
        }
        return unchanged;
    }

    /** What the heartbeat would extend now. */
    Optional<Claim> held() {
        return Optional.ofNullable(held);
    }

    @Override
    public boolean extend(Claim claim, Duration leaseDuration) {
        return change(
                "extend the lease",
                claim,
                (sql, row) -> row.isLive(clock(sql))
                        ? new Row(row.token(), row.attempt(), null, sql.state().now() + 1, false)
                        : null);
    }

    /** Doing so again says so again and keeps the first result. */
    @Override
    public boolean complete(Claim claim, RecordedResult result) {
        try {
            return runner.<Boolean, RuntimeException>run(limits(), transaction -> {
                SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
                return told(() -> change(
                                joined,
                                "complete",
                                claim,
                                (sql, row) -> row.result() == null && !row.absent()
                                        ? new Row(row.token(), row.attempt(), result, 0, false)
                                        : null)
                        || isCompleted(joined, claim));
            });
        } catch (IdempotencyException e) {
            if (fault == SeededFault.RELEASE_AFTER_EFFECT) {
                release(claim);
            }
            throw e;
        }
    }

    @Override
    public boolean release(Claim claim) {
        return change(
                "release",
                claim,
                (sql, row) -> row.result() == null && !row.absent()
                        ? new Row(row.token(), row.attempt(), null, 0, true)
                        : null);
    }

    private boolean isCompleted(SimulatedTransaction transaction, Claim claim) {
        String cell = cell(claim.request().id());
        return transaction.statement("is it completed " + cell, Boolean.class, sql -> {
            Row row = sql.find(cell, Row.class);
            return row != null && isOwn(row, claim) && row.result() != null;
        });
    }

    private boolean isOwn(Row row, Claim claim) {
        return fault == SeededFault.COMPLETION_UNFENCED || row.token() == claim.token();
    }

    private boolean change(String what, Claim claim, Change change) {
        return runner.<Boolean, RuntimeException>run(
                limits(),
                transaction -> told(() -> change(transaction.unwrap(SimulatedTransaction.class), what, claim, change)));
    }

    private boolean change(SimulatedTransaction transaction, String what, Claim claim, Change change) {
        String cell = cell(claim.request().id());
        return transaction.statement(what + " " + cell, Boolean.class, sql -> {
            sql.await(cell);
            Row row = sql.find(cell, Row.class);
            Row changed = row != null && isOwn(row, claim) ? change.apply(sql, row) : null;
            if (changed != null) {
                sql.write(cell, changed);
            }
            return changed != null;
        });
    }

    @FunctionalInterface
    private interface Change {
        @Nullable
        Row apply(Sql sql, Row row);
    }
}
