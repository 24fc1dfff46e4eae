package dev.idempotency;

import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import java.time.Duration;

/** Runs an operation under {@link Protection#LEASED}: the claim commits first, a heartbeat keeps it, a token fences it. */
final class LeasedEngine implements AutoCloseable {
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final LeasedIdempotencyStore store;
    private final LeaseSettings settings;
    private final KeyDerivation derivation;
    private final Heartbeat heartbeat;

    LeasedEngine(LeasedIdempotencyStore store, LeaseSettings settings, KeyDerivation derivation, NanoTicker ticker) {
        this.store = store;
        this.settings = settings;
        this.derivation = derivation;
        this.heartbeat = new Heartbeat(store, settings, ticker);
    }

    <X extends Exception> OperationOutcome execute(Operation operation, OperationWork<X> work) throws X {
        LeasedStart start = begin(operation);
        if (start instanceof LeasedStart.NotStarted notStarted) {
            return notStarted.outcome();
        }
        LeasedOperation running = ((LeasedStart.Started) start).operation();
        WorkResult result;
        try {
            result = work.run(running.context());
        } catch (Exception | Error e) {
            failed(running, e);
            throw e;
        }
        return running.finish(result);
    }

    private static void failed(LeasedOperation running, Throwable failure) {
        try {
            running.fail();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    LeasedStart begin(Operation operation) {
        ClaimRequest request =
                new ClaimRequest(operation.id(), operation.fingerprint(), operation.retention(), operation.abandoned());
        long before = heartbeat.nanoTime();
        ClaimOutcome outcome;
        try {
            outcome = store.claim(request, settings.leaseDuration());
        } catch (OutcomeUnknownException e) {
            return new LeasedStart.NotStarted(new OperationOutcome.Unknown(e));
        } catch (StoreConflictException e) {
            return new LeasedStart.NotStarted(new OperationOutcome.InProgress(RETRY_AFTER));
        } catch (StoreUnavailableException | StoreException e) {
            return new LeasedStart.NotStarted(new OperationOutcome.StoreUnavailable(e));
        }
        if (outcome instanceof ClaimOutcome.Acquired acquired) {
            return new LeasedStart.Started(start(acquired.claim(), before));
        }
        return new LeasedStart.NotStarted(Outcomes.ofClaim(outcome).orElseThrow());
    }

    private LeasedOperation start(Claim claim, long claimedAtNanos) {
        Lease lease = heartbeat.keep(claim, claimedAtNanos);
        return new LeasedOperation(store, claim, lease, derivation);
    }

    @Override
    public void close() {
        heartbeat.close();
    }
}
