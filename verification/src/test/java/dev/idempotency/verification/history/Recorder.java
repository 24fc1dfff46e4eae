package dev.idempotency.verification.history;

import dev.idempotency.RecordedResult;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.verification.history.Call.Action;
import dev.idempotency.verification.history.Call.Answer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Notes down the calls of several threads with one clock of begins and ends. Safe for use by many threads. */
final class Recorder {
    private final boolean joining;
    private final AtomicLong clock = new AtomicLong();
    private final List<Call> calls = Collections.synchronizedList(new ArrayList<>());

    /** A recorder of claims that join a transaction, or of claims that do not. */
    Recorder(boolean joining) {
        this.joining = joining;
    }

    List<Call> history() {
        return List.copyOf(calls);
    }

    /** Calls a claim, and returns it if it was got. */
    @Nullable
    Claim claim(int thread, boolean otherwise, Supplier<ClaimOutcome> call) {
        Action action = otherwise ? Action.CLAIM_OTHERWISE : Action.CLAIM;
        long begin = clock.incrementAndGet();
        ClaimOutcome outcome;
        try {
            outcome = call.get();
        } catch (StoreConflictException e) {
            note(thread, action, 0, 0, "", Answer.CONFLICT, begin);
            return null;
        }
        if (outcome instanceof ClaimOutcome.Acquired acquired) {
            Claim claim = acquired.claim();
            note(thread, action, claim.token(), claim.attempt(), "", Answer.ACQUIRED, begin);
            return claim;
        }
        if (outcome instanceof ClaimOutcome.Completed completed) {
            note(thread, action, 0, 0, text(completed.result()), Answer.COMPLETED, begin);
        } else if (outcome instanceof ClaimOutcome.InProgress) {
            note(thread, action, 0, 0, "", Answer.IN_PROGRESS, begin);
        } else if (outcome instanceof ClaimOutcome.Mismatch) {
            note(thread, action, 0, 0, "", Answer.MISMATCH, begin);
        } else {
            throw new AssertionError("A claim was answered " + outcome);
        }
        return null;
    }

    void call(int thread, Action action, long token, String detail, BooleanSupplier call) {
        long begin = clock.incrementAndGet();
        Answer answer;
        try {
            answer = call.getAsBoolean() ? Answer.YES : Answer.NO;
        } catch (StoreConflictException e) {
            answer = Answer.CONFLICT;
        }
        note(thread, action, token, 0, detail, answer, begin);
    }

    /** The begin of a call that ends with {@link #end}. */
    long begin() {
        return clock.incrementAndGet();
    }

    void end(int thread, Action action, long token, String detail, Answer answer, long begin) {
        note(thread, action, token, 0, detail, answer, begin);
    }

    private void note(int thread, Action action, long token, int attempt, String detail, Answer answer, long begin) {
        calls.add(new Call(thread, action, token, attempt, detail, answer, joining, begin, clock.incrementAndGet()));
    }

    static RecordedResult result(String text) {
        return new RecordedResult.Replayable(200, new byte[0], text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(RecordedResult result) {
        return new String(((RecordedResult.Replayable) result).body(), StandardCharsets.US_ASCII);
    }
}
