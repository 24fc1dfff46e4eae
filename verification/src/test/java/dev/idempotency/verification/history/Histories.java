package dev.idempotency.verification.history;

import dev.idempotency.ClaimLostException;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.verification.history.Call.Action;
import dev.idempotency.verification.history.Call.Answer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Lets a few threads call a store at random, one record a history, and looks for an explanation of what they saw. */
final class Histories {
    private static final int THREADS = 3;
    private static final int CALLS = 4;
    private static final Duration LEASE = Duration.ofHours(1);

    private final long seed;
    private final int count;

    /** A history that no order of its calls explains. */
    record Unexplained(int number, List<Call> history) {
        String describe() {
            return "No order of these calls explains their answers (history " + number + "):\n"
                    + history.stream()
                            .sorted(Comparator.comparingLong(Call::begin))
                            .map(Call::toString)
                            .collect(Collectors.joining("\n"));
        }
    }

    Histories(long seed, int count) {
        this.seed = seed;
        this.count = count;
    }

    /** Records histories of claims with leases until one cannot be explained. */
    Optional<Unexplained> leased(LeasedIdempotencyStore store, Consumer<String> endLease) {
        return record(false, (recorder, id, thread, random) -> {
            Claim held = null;
            for (int i = 0; i < CALLS; i++) {
                held = leasedCall(store, endLease, recorder, id, thread, random, held, thread + "." + i);
            }
        });
    }

    private static @Nullable Claim leasedCall(
            LeasedIdempotencyStore store,
            Consumer<String> endLease,
            Recorder recorder,
            RecordId id,
            int thread,
            Random random,
            @Nullable Claim held,
            String text) {
        int dice = random.nextInt(10);
        if (dice == 0) {
            recorder.call(thread, Action.FORGET, 0, "", () -> store.forget(id));
            return held;
        }
        if (dice == 1) {
            recorder.call(thread, Action.END_LEASE, 0, "", () -> {
                endLease.accept(id.key().value());
                return true;
            });
            return held;
        }
        if (held == null) {
            boolean otherwise = dice == 2;
            return recorder.claim(thread, otherwise, () -> store.claim(request(id, otherwise), LEASE));
        }
        if (dice < 5) {
            recorder.call(thread, Action.EXTEND, held.token(), "", () -> store.extend(held, LEASE));
            return held;
        }
        if (dice < 8) {
            recorder.call(
                    thread, Action.COMPLETE, held.token(), text, () -> store.complete(held, Recorder.result(text)));
        } else {
            recorder.call(thread, Action.RELEASE, held.token(), "", () -> store.release(held));
            return null;
        }
        // Sometimes a claim is used on after its end, as a heartbeat that comes late does.
        return random.nextInt(4) == 0 ? held : null;
    }

    /** Records histories of claims within transactions until one cannot be explained. */
    Optional<Unexplained> transactional(TransactionalIdempotencyStore store, TransactionRunner runner) {
        return record(true, (recorder, id, thread, random) -> {
            for (int i = 0; i < CALLS; i++) {
                transaction(store, runner, recorder, id, thread, random, thread + "." + i);
            }
        });
    }

    private static void transaction(
            TransactionalIdempotencyStore store,
            TransactionRunner runner,
            Recorder recorder,
            RecordId id,
            int thread,
            Random random,
            String text) {
        boolean otherwise = random.nextInt(8) == 0;
        boolean commit = random.nextInt(3) == 0;
        long[] begin = new long[1];
        long[] token = new long[1];
        Action action = commit ? Action.COMMIT : Action.ROLL_BACK;
        Answer answer = Answer.YES;
        try {
            runner.<Boolean, RuntimeException>run(TransactionLimits.ofDefaults(), transaction -> {
                Claim acquired =
                        recorder.claim(thread, otherwise, () -> store.claim(transaction, request(id, otherwise)));
                begin[0] = recorder.begin();
                token[0] = acquired == null ? 0 : acquired.token();
                if (acquired != null && commit) {
                    store.complete(transaction, acquired, Recorder.result(text));
                } else {
                    transaction.setRollbackOnly();
                }
                return true;
            });
        } catch (ClaimLostException e) {
            answer = Answer.NO;
        }
        if (token[0] != 0) {
            recorder.end(thread, action, token[0], text, answer, begin[0]);
        }
    }

    private static ClaimRequest request(RecordId id, boolean otherwise) {
        Fingerprint fingerprint =
                Fingerprint.sha256("history", (otherwise ? "other" : "one").getBytes(StandardCharsets.US_ASCII));
        return new ClaimRequest(id, fingerprint, Duration.ofDays(1), AbandonedPolicy.RUN_AGAIN);
    }

    private Optional<Unexplained> record(boolean joining, Program program) {
        try (Crowd crowd = new Crowd(THREADS)) {
            for (int number = 0; number < count; number++) {
                Recorder recorder = new Recorder(joining);
                RecordId id =
                        new RecordId(Scope.shared("history"), IdempotencyKey.of("history-" + seed + "-" + number));
                long seedOfHistory = seed + 31L * number;
                crowd.together(
                        thread -> program.run(recorder, id, thread, new Random(seedOfHistory * THREADS + thread)));
                if (LinearizabilityChecker.explain(recorder.history()).isEmpty()) {
                    return Optional.of(new Unexplained(number, recorder.history()));
                }
            }
        }
        return Optional.empty();
    }

    @FunctionalInterface
    private interface Program {
        void run(Recorder recorder, RecordId id, int thread, Random random);
    }
}
