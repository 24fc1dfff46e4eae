package dev.idempotency.shutdown;

import dev.idempotency.shutdown.ShutdownReport.Done;
import dev.idempotency.shutdown.ShutdownReport.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The one run of a {@link GracefulShutdown}. Creating it has no effect, so that of two callers the one that loses the
 * race can drop its own.
 */
final class ShutdownRun {
    static final String IN_FLIGHT = "in-flight";

    private final Settings settings;
    private final TimeSource time;
    private final ShutdownLog log;
    private final Registrations registrations;
    private final InFlight inFlight;
    private final CountDownLatch intakeClosed;
    private final Reason reason;
    private final String begunBy = Thread.currentThread().getName();
    private final long begunNanos;
    private final Cutoffs cutoffs;
    private final Thread runner;
    private final CountDownLatch finished = new CountDownLatch(1);
    private final CompletableFuture<ShutdownReport> report = new CompletableFuture<>();
    private final CompletionStage<ShutdownReport> completion = report.minimalCompletionStage();
    private final AtomicBoolean calledAgain = new AtomicBoolean();
    private final List<Thread> stepThreads = new CopyOnWriteArrayList<>();

    // Only the runner touches these two.
    private final List<Step> steps = new ArrayList<>();
    private final Set<Registrations.Watch> doneWatching = new HashSet<>();

    private volatile State state;

    ShutdownRun(
            Settings settings,
            Registrations registrations,
            InFlight inFlight,
            CountDownLatch intakeClosed,
            Reason reason) {
        this.settings = settings;
        this.time = settings.time();
        this.log = new ShutdownLog(settings.logger());
        this.registrations = registrations;
        this.inFlight = inFlight;
        this.intakeClosed = intakeClosed;
        this.reason = reason;
        this.begunNanos = time.nanoTime();
        this.cutoffs = Cutoffs.startingAt(begunNanos, settings);
        this.state = settings.lameDuck().isZero() ? State.DRAINING : State.LAME_DUCK;
        this.runner = Threads.keepingAlive("idempotency-shutdown", this::run);
    }

    State state() {
        return state;
    }

    Reason reason() {
        return reason;
    }

    String begunBy() {
        return begunBy;
    }

    CompletionStage<ShutdownReport> completion() {
        return completion;
    }

    /** Counted down when the last phase has ended and the report is complete. */
    CountDownLatch finished() {
        return finished;
    }

    /** Starts the run; called once, by the caller whose run has been chosen. */
    void start() {
        if (state == State.DRAINING) {
            intakeClosed.countDown();
        }
        runner.start();
    }

    void calledAgain(Reason secondReason) {
        boolean underWay = finished.getCount() > 0;
        log.calledAgain(this, secondReason, underWay && calledAgain.compareAndSet(false, true));
    }

    /** Says where the run stands and what its threads are doing. */
    String describe() {
        StringBuilder text = new StringBuilder("shutdown has not finished within ")
                .append(settings.grace().toMillis())
                .append("ms, state=")
                .append(state);
        appendStack(text, runner);
        for (Thread thread : stepThreads) {
            appendStack(text, thread);
        }
        if (state == State.STOPPED) {
            text.append(
                    "\n  its own phases have ended; these non-daemon threads are alive, one may be a JVM shutdown hook:");
            for (Thread thread : OtherHooks.liveThreads()) {
                if (!thread.isDaemon()) {
                    text.append(' ').append(thread.getName());
                }
            }
        }
        return text.toString();
    }

    private static void appendStack(StringBuilder text, Thread thread) {
        if (!thread.isAlive()) {
            return;
        }
        text.append("\n  ").append(thread.getName()).append(' ').append(thread.getState());
        for (StackTraceElement frame : thread.getStackTrace()) {
            text.append("\n    at ").append(frame);
        }
    }

    private void run() {
        log.begins(reason, settings.grace());
        log.otherHooks(OtherHooks.running());
        for (Phase phase : Phase.values()) {
            runPhase(phase);
        }
        state = State.STOPPED;
        ShutdownReport result = new ShutdownReport(reason, Duration.ofNanos(time.nanoTime() - begunNanos), steps);
        log.ends(result);
        finished.countDown();
        report.complete(result);
    }

    private void runPhase(Phase phase) {
        if (phase == Phase.STOP_INTAKE) {
            state = State.DRAINING;
            intakeClosed.countDown();
        } else if (phase == Phase.CLOSE) {
            state = State.CLOSING;
        }
        lookAtWatches(phase);
        List<PlannedStep> planned = stepsOf(phase);
        Deadline deadline = new Deadline(time, cutoffs.endOf(phase, time.nanoTime()));
        log.phaseBegins(phase, planned.size(), deadline.remaining(), inFlight.active());
        if (phase == Phase.CLOSE) {
            runOneByOne(phase, planned);
        } else {
            runTogether(phase, planned, deadline);
        }
        if (phase == Phase.ANNOUNCE) {
            // Nobody counts this latch down: those who route requests need the whole period to notice.
            time.awaitUninterruptibly(new CountDownLatch(1), cutoffs.lameDuckEnd());
        }
    }

    private record PlannedStep(String name, StepBody body) {}

    private List<PlannedStep> stepsOf(Phase phase) {
        List<PlannedStep> planned = new ArrayList<>();
        if (phase == Phase.DRAIN) {
            planned.add(new PlannedStep(IN_FLIGHT, new StepBody.OfInFlight(inFlight)));
        }
        for (Registrations.Task task : registrations.snapshot(Registrations.Task.class)) {
            if (task.phase() == phase) {
                planned.add(new PlannedStep(task.name(), new StepBody.OfTask(task.task())));
            }
        }
        return planned;
    }

    /** Asks every watch once per phase, until it has something to tell; a watch that hangs costs the margin once. */
    private void lookAtWatches(Phase phase) {
        List<PlannedStep> planned = new ArrayList<>();
        List<Registrations.Watch> watches = registrations.snapshot(Registrations.Watch.class);
        watches.removeAll(doneWatching);
        for (Registrations.Watch watch : watches) {
            planned.add(new PlannedStep(watch.name(), new StepBody.OfWatch(watch)));
        }
        Deadline deadline = new Deadline(time, time.nanoTime() + Cutoffs.MARGIN.toNanos());
        List<Step> looked = runTogether(phase, planned, deadline);
        for (int i = 0; i < looked.size(); i++) {
            if (!(looked.get(i).outcome() instanceof Done)) {
                doneWatching.add(watches.get(i));
            }
        }
    }

    private void runOneByOne(Phase phase, List<PlannedStep> planned) {
        Collections.reverse(planned);
        int left = planned.size();
        for (PlannedStep step : planned) {
            Deadline share = new Deadline(time, cutoffs.endOfCloser(time.nanoTime(), left--));
            runTogether(phase, List.of(step), share);
        }
    }

    private List<Step> runTogether(Phase phase, List<PlannedStep> planned, Deadline deadline) {
        CountDownLatch ended = new CountDownLatch(planned.size());
        List<RunningStep> running = new ArrayList<>();
        for (PlannedStep step : planned) {
            running.add(new RunningStep(phase, step.name(), step.body(), deadline, time, log, ended));
        }
        for (RunningStep step : running) {
            stepThreads.add(step.thread());
            step.begin();
        }
        time.awaitUninterruptibly(ended, deadline.atNanos());
        List<Step> results = new ArrayList<>();
        for (RunningStep step : running) {
            Step result = step.giveUp();
            results.add(result);
            if (step.isWorthReporting(result.outcome())) {
                steps.add(result);
            }
        }
        return results;
    }
}
