package dev.idempotency.shutdown;

import dev.idempotency.shutdown.ShutdownReport.ClosedEarly;
import dev.idempotency.shutdown.ShutdownReport.Failed;
import dev.idempotency.shutdown.ShutdownReport.Outcome;
import dev.idempotency.shutdown.ShutdownReport.Step;
import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import dev.idempotency.shutdown.ShutdownReport.TimedOut;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.slf4j.helpers.NOPLogger;

/**
 * A shutdown with nothing to do, silent and harmless. It loads the classes and links the call sites of this package
 * while the application starts: at the end that would take tens of milliseconds of a budget that may be nearly used
 * up, and it can fail when the class loader is already closed.
 */
final class Rehearsal {
    private static final Duration BOUND = Duration.ofSeconds(1);

    private Rehearsal() {}

    static void run() {
        GracefulShutdown shutdown = new GracefulShutdown(new Settings(
                BOUND,
                BOUND.dividedBy(2),
                Duration.ZERO,
                1,
                TimeSource.SYSTEM,
                NOPLogger.NOP_LOGGER,
                status -> {},
                text -> {}));
        for (Phase phase : Phase.values()) {
            shutdown.on(phase, "rehearsal", deadline -> {});
        }
        shutdown.watch("rehearsal", () -> false);
        shutdown.inFlight().tryEnter("rehearsal").ifPresent(Permit::close);
        CountDownLatch ended = new CountDownLatch(1);
        Reason reason = new Reason("rehearsal");
        shutdown.shutdown(reason).thenAccept(report -> ended.countDown());
        shutdown.shutdown(reason);
        TimeSource.SYSTEM.awaitUninterruptibly(ended, TimeSource.SYSTEM.nanoTime() + BOUND.toNanos());
        logEveryOutcome();
    }

    private static void logEveryOutcome() {
        ShutdownLog log = new ShutdownLog(NOPLogger.NOP_LOGGER);
        List<Outcome> outcomes = List.of(
                new TimedOut(List.of(new StillRunning("rehearsal", BOUND, "thread"))),
                new Failed(new IllegalStateException("rehearsal")),
                new ClosedEarly());
        for (Outcome outcome : outcomes) {
            Step step = new Step(Phase.DRAIN, "rehearsal", BOUND, outcome);
            log.stepEnds(step);
            log.stepEndsLate(step);
            log.ends(new ShutdownReport(new Reason("rehearsal"), BOUND, List.of(step)));
        }
        log.otherHooks(List.of("rehearsal"));
        log.overdue("rehearsal");
    }
}
