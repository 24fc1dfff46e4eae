package dev.idempotency.shutdown;

import dev.idempotency.shutdown.ShutdownReport.Done;
import dev.idempotency.shutdown.ShutdownReport.Failed;
import dev.idempotency.shutdown.ShutdownReport.Outcome;
import dev.idempotency.shutdown.ShutdownReport.Step;
import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One step on its own thread. Its outcome is decided once: by the step itself, or by the runner that gives it up. */
final class RunningStep implements Runnable {
    private final Phase phase;
    private final String name;
    private final StepBody body;
    private final Deadline deadline;
    private final TimeSource time;
    private final ShutdownLog log;
    private final CountDownLatch ended;
    private final long begunNanos;
    private final Thread thread;
    private final AtomicReference<@Nullable Step> decided = new AtomicReference<>();

    RunningStep(
            Phase phase,
            String name,
            StepBody body,
            Deadline deadline,
            TimeSource time,
            ShutdownLog log,
            CountDownLatch ended) {
        this.phase = phase;
        this.name = name;
        this.body = body;
        this.deadline = deadline;
        this.time = time;
        this.log = log;
        this.ended = ended;
        this.begunNanos = time.nanoTime();
        this.thread = Threads.daemon("idempotency-shutdown " + phase + " " + name, this);
    }

    void begin() {
        try {
            thread.start();
        } catch (OutOfMemoryError noMoreThreads) {
            end(new Failed(noMoreThreads));
        }
    }

    @Override
    public void run() {
        end(outcomeOfBody());
    }

    /** Decides, if nothing has been decided, that the step has timed out; it is left running. */
    Step giveUp() {
        if (decided.get() == null) {
            decide(body.timedOut(new StillRunning(name, age(), thread.getName())));
        }
        return Objects.requireNonNull(decided.get());
    }

    /** Whether the step belongs into the report. */
    boolean isWorthReporting(Outcome outcome) {
        return body.reportsDone() || !(outcome instanceof Done);
    }

    Thread thread() {
        return thread;
    }

    // Nothing that one task throws, not even the NoClassDefFoundError of a library that is already half gone, may keep
    // the other tasks from being run: the pool must still be closed.
    private Outcome outcomeOfBody() {
        try {
            return body.run(deadline);
        } catch (Throwable failure) {
            return new Failed(failure);
        }
    }

    private void end(Outcome outcome) {
        if (!decide(outcome)) {
            log.stepEndsLate(new Step(phase, name, age(), outcome));
        }
        ended.countDown();
    }

    private boolean decide(Outcome outcome) {
        Step step = new Step(phase, name, age(), outcome);
        boolean first = decided.compareAndSet(null, step);
        if (first && isWorthReporting(outcome)) {
            log.stepEnds(step);
        }
        return first;
    }

    private Duration age() {
        return Duration.ofNanos(time.nanoTime() - begunNanos);
    }
}
