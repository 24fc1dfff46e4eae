package dev.idempotency.client;

import dev.idempotency.client.CallReport.Ending;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the listener what became of a call; whatever the listener does, the call has ended. */
final class CallReports {
    private static final Logger logger = LoggerFactory.getLogger(CallReports.class);

    private final CallListener listener;
    private final LongSupplier nanoTime;

    CallReports(CallListener listener, LongSupplier nanoTime) {
        this.listener = listener;
        this.nanoTime = nanoTime;
    }

    /** Begins to measure a call; what is returned is to be told its end, and asks then how many attempts it began. */
    <T extends @Nullable Object> BiConsumer<@Nullable CallOutcome<T>, @Nullable Throwable> begin(
            String method, IntSupplier attempts) {
        long beganAtNanos = nanoTime.getAsLong();
        return (outcome, failure) -> {
            Duration elapsed = Duration.ofNanos(nanoTime.getAsLong() - beganAtNanos);
            tell(new CallReport(method, ending(outcome, failure), status(outcome), attempts.getAsInt(), elapsed));
        };
    }

    private void tell(CallReport report) {
        try {
            listener.onCall(report);
        } catch (Exception | LinkageError e) {
            // A listener may throw what it does not declare, and a library of metrics may be incomplete.
            logger.warn("The listener failed on a call that ended as {}; the call is not affected", report.ending(), e);
        }
    }

    private static Ending ending(@Nullable CallOutcome<?> outcome, @Nullable Throwable failure) {
        if (outcome instanceof CallOutcome.Answered) {
            return Ending.ANSWERED;
        }
        if (outcome instanceof CallOutcome.NotSent) {
            return Ending.NOT_SENT;
        }
        if (outcome instanceof CallOutcome.Unknown) {
            return Ending.UNKNOWN;
        }
        if (outcome instanceof CallOutcome.KeyExpired) {
            return Ending.KEY_EXPIRED;
        }
        return failure instanceof CancellationException ? Ending.CANCELLED : Ending.REFUSED;
    }

    private static int status(@Nullable CallOutcome<?> outcome) {
        if (outcome instanceof CallOutcome.Answered<?> answered) {
            return answered.response().statusCode();
        }
        return outcome instanceof CallOutcome.Unknown<?> unknown
                        && unknown.failure() instanceof CallFailure.Refused refused
                ? refused.status()
                : 0;
    }
}
