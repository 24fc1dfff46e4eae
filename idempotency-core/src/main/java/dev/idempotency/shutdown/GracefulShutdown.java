package dev.idempotency.shutdown;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends an application in order and once: applications create one, register what has to be done, and either
 * {@linkplain #ownJvmShutdown own} the JVM's shutdown or call {@link #shutdown} from their framework's lifecycle.
 *
 * <p>The phases of {@link Phase} run one after the other within one grace period. Every caller of {@link #shutdown}
 * gets the same completion and every task runs at most once. Nothing is interrupted: work that does not finish in time
 * is reported by label and age and left to roll back. No JVM hook is installed unless {@link #ownJvmShutdown} is called.
 *
 * <pre>{@code
 * GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
 * shutdown.on(Phase.CLOSE, "pool", deadline -> dataSource.close());   // registered first, closed last
 * shutdown.on(Phase.CLOSE, "http server", deadline -> server.stop());
 * shutdown.watch("pool", dataSource::isClosed);
 * shutdown.ownJvmShutdown("orders");
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class GracefulShutdown {
    private static final Logger logger = LoggerFactory.getLogger(GracefulShutdown.class);
    private static final Duration HOOK_PATIENCE = Duration.ofSeconds(1);

    private final Settings settings;
    private final TimeSource time;
    private final Registrations registrations = new Registrations();
    private final AtomicReference<@Nullable ShutdownRun> run;
    private final InFlight inFlight;
    private final CountDownLatch intakeClosed = new CountDownLatch(1);
    private volatile boolean ownsJvm;

    GracefulShutdown(Settings settings) {
        AtomicReference<@Nullable ShutdownRun> theRun = new AtomicReference<>();
        this.settings = settings;
        this.time = settings.time();
        this.run = theRun;
        this.inFlight = new InFlight(() -> admitsWork(theRun), settings.time());
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a shutdown with the default of every option: a grace period of 25 s, of which 5 s are reserved for closing.
     *
     * @return a new shutdown in {@link State#RUNNING}
     */
    public static GracefulShutdown ofDefaults() {
        return builder().build();
    }

    /**
     * Registers a task for a phase. Names need not be unique; they are what logs and the report show.
     *
     * @param phase when to run it
     * @param name what to call it
     * @param task what to do; it runs at most once
     * @return takes the task back when closed before the shutdown begins
     * @throws IllegalArgumentException if {@code name} is blank
     * @throws IllegalStateException if the shutdown has begun: the task will not run, so the caller has to clean up
     */
    public Registration on(Phase phase, String name, ShutdownTask task) {
        Objects.requireNonNull(phase, "phase");
        Objects.requireNonNull(task, "task");
        return register(name, new Registrations.Task(phase, requireName(name), task));
    }

    /**
     * Watches a resource that must stay open until {@link Phase#CLOSE}. If it is found closed when a phase begins,
     * somebody else reacts to the end of the process too; this is logged as an error and the report is not clean.
     *
     * @param name what to call the resource
     * @param closed tells whether it is closed, such as {@code dataSource::isClosed}; called once per phase on a thread
     *     of its own, for at most 250 ms
     * @return ends the watch when closed before the shutdown begins
     * @throws IllegalArgumentException if {@code name} is blank
     * @throws IllegalStateException if the shutdown has begun; nothing is watched
     */
    public Registration watch(String name, BooleanSupplier closed) {
        Objects.requireNonNull(closed, "closed");
        return register(name, new Registrations.Watch(requireName(name), closed));
    }

    /**
     * Returns the gate through which work has to pass that a shutdown should wait for.
     *
     * @return the one gate of this shutdown
     */
    public InFlight inFlight() {
        return inFlight;
    }

    /**
     * Returns where the shutdown stands.
     *
     * @return the current state; it may have moved on when the caller looks at it
     */
    public State state() {
        ShutdownRun current = run.get();
        return current == null ? State.RUNNING : current.state();
    }

    /**
     * Tells whether readiness is up. Use it for the readiness probe only: a liveness probe must keep answering 200
     * during a drain, or the platform kills it.
     *
     * @return true until the shutdown begins
     */
    public boolean ready() {
        return state() == State.RUNNING;
    }

    /**
     * Tells whether new work is admitted.
     *
     * @return true until the shutdown begins or, with a lame-duck period, until {@link Phase#STOP_INTAKE}
     */
    public boolean acceptsWork() {
        return admitsWork(run);
    }

    /**
     * Waits until new work is refused, so that a pause in work that is already in flight, such as a back-off between two
     * attempts or the wait of a duplicate, ends early when the process is about to end.
     *
     * @param timeout how long to wait at most, not negative, at most about 292 years
     * @return true if new work is refused, false if the time has passed
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws ArithmeticException if {@code timeout} does not fit into nanoseconds
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public boolean awaitIntakeClosed(Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is " + timeout + ", use zero or more");
        }
        return time.await(intakeClosed, time.nanoTime() + timeout.toNanos());
    }

    /**
     * Begins the shutdown, or joins the one that has begun.
     *
     * <p>When it returns, {@link #ready()} is false and, without a lame-duck period, no new work is admitted any more. It
     * does not wait for the phases. They run on threads of their own, one of which keeps the JVM alive until they have
     * ended.
     *
     * @param reason who asks, for logs and the report; a second caller's reason is only logged
     * @return the same completion for every caller, which always completes normally
     */
    public CompletionStage<ShutdownReport> shutdown(Reason reason) {
        return begin(reason, false).completion();
    }

    /**
     * Makes this shutdown the one that reacts to the end of the JVM: a signal, {@code System.exit} or the end of the
     * last thread. Call it in {@code main} of an application that no framework ends, after everything is registered.
     *
     * <p>Installs a JVM shutdown hook that calls {@link #shutdown} and waits for it, at most for the grace period. From
     * then on a shutdown that has not ended by the end of the grace period, and a JVM that has not ended by then since
     * the hook was called, is halted with the {@linkplain Builder#forcedExitStatus forced exit status}, at most 100 ms
     * later. What was hanging is written to the process's standard error before.
     *
     * @param owner the name of the application, for the message that a second claim gets
     * @return gives the right up when closed
     * @throws IllegalArgumentException if {@code owner} is blank
     * @throws ShutdownOwnershipException if somebody in this JVM, in whatever class loader, has claimed before; nothing
     *     has been installed
     * @throws IllegalStateException if this shutdown has begun or the JVM is already ending; nothing has been installed
     */
    public Ownership ownJvmShutdown(String owner) {
        requireName(owner);
        requireRunning("own the JVM's shutdown as '" + owner + "'");
        JvmClaim claim = JvmClaim.sole(owner);
        Reason reason = new Reason("end of the JVM, owned by " + owner);
        Thread hook = Threads.keepingAlive(OtherHooks.OWN_HOOK, () -> runHook(reason));
        ownsJvm = true;
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException jvmIsEnding) {
            ownsJvm = false;
            claim.release();
            throw new IllegalStateException(
                    "Cannot own the JVM's shutdown as '" + owner + "': the JVM is already ending.", jvmIsEnding);
        }
        return new Ownership(owner, () -> {
            removeHook(hook);
            ownsJvm = false;
            claim.release();
        });
    }

    /**
     * Claims the JVM's shutdown for a framework that reacts to it and calls {@link #shutdown} from its own lifecycle, so
     * that a later {@link #ownJvmShutdown} is refused at start. Called by integrations; installs nothing and halts
     * nothing.
     *
     * @param framework the name of the framework; several reservations under one name may exist at a time, for an
     *     application with several contexts
     * @return gives the reservation up when closed
     * @throws IllegalArgumentException if {@code framework} is blank
     * @throws ShutdownOwnershipException if somebody has claimed under another name, or with a hook
     * @throws IllegalStateException if this shutdown has begun; nothing is reserved
     */
    public Ownership reserveJvmShutdown(String framework) {
        requireName(framework);
        requireRunning("reserve the JVM's shutdown for '" + framework + "'");
        JvmClaim claim = JvmClaim.shared(framework);
        return new Ownership(framework, claim::release);
    }

    private Registration register(String name, Object entry) {
        if (!registrations.add(entry, () -> run.get() != null)) {
            throw new IllegalStateException("Cannot register '" + name + "': the shutdown has begun, state is "
                    + state() + ". It will not be run; clean up directly.");
        }
        return new Registration(registrations, entry);
    }

    private void requireRunning(String attempt) {
        State current = state();
        if (current != State.RUNNING) {
            throw new IllegalStateException(
                    "Cannot " + attempt + ": the shutdown has begun, state is " + current + ".");
        }
    }

    /** Waits a little longer than the watchdog, which has something to say before it ends the process. */
    private void runHook(Reason reason) {
        long until = time.nanoTime() + settings.grace().plus(HOOK_PATIENCE).toNanos();
        time.awaitUninterruptibly(begin(reason, true).finished(), until);
    }

    private ShutdownRun begin(Reason reason, boolean jvmEnds) {
        Objects.requireNonNull(reason, "reason");
        ShutdownRun mine = new ShutdownRun(settings, registrations, inFlight, intakeClosed, reason);
        ShutdownRun earlier = run.compareAndExchange(null, mine);
        if (earlier == null) {
            arm(mine, jvmEnds);
            mine.start();
            return mine;
        }
        if (jvmEnds) {
            arm(earlier, true);
        }
        earlier.calledAgain(reason);
        return earlier;
    }

    /**
     * Arms the watchdog for a grace period from now. When the JVM ends, the end of our own phases is not enough: a hook
     * of somebody else can hang, so nothing but the end of the process disarms it.
     */
    private void arm(ShutdownRun guarded, boolean jvmEnds) {
        CountDownLatch until = jvmEnds ? new CountDownLatch(1) : guarded.finished();
        long halt = time.nanoTime() + settings.grace().toNanos();
        Watchdog.arm(time, until, halt, () -> overdue(guarded, jvmEnds), () -> {
            if (jvmEnds || ownsJvm) {
                settings.halt().accept(settings.forcedExitStatus());
            }
        });
    }

    private void overdue(ShutdownRun guarded, boolean jvmEnds) {
        String description = guarded.describe();
        if (jvmEnds || ownsJvm) {
            settings.lastWords().accept(description + "\n  halting with status " + settings.forcedExitStatus());
        } else {
            new ShutdownLog(settings.logger()).overdue(description);
        }
    }

    private static boolean admitsWork(AtomicReference<@Nullable ShutdownRun> run) {
        ShutdownRun current = run.get();
        return current == null || current.state() == State.LAME_DUCK;
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException jvmIsEnding) {
            logger.debug("the JVM is ending, the shutdown hook stays", jvmIsEnding);
        }
    }

    private static String requireName(String name) {
        if (name.isBlank()) {
            throw new IllegalArgumentException("the name is blank, use one that an operator understands");
        }
        return name;
    }

    /** Collects the options of a {@link GracefulShutdown}. Not thread-safe. */
    public static final class Builder {
        private static final Duration LONGEST_GRACE = Duration.ofDays(1);

        private Duration grace = Duration.ofSeconds(25);
        private Duration closeReserve = Duration.ofSeconds(5);
        private Duration lameDuck = Duration.ZERO;
        private int forcedExitStatus = 1;
        private TimeSource time = TimeSource.SYSTEM;
        private Logger log = logger;
        private IntConsumer halt = Runtime.getRuntime()::halt;
        private Consumer<String> lastWords = Builder::writeToStandardError;

        private Builder() {}

        /**
         * Sets how long the whole shutdown may take. Keep it below the platform's own limit, which is 30 s by default on
         * Kubernetes and counts from the signal.
         *
         * @param grace positive, at most 1 day; default 25 s
         * @return this builder
         */
        public Builder grace(Duration grace) {
            this.grace = requirePositive("grace", grace);
            return this;
        }

        /**
         * Sets how much of the grace period is kept for {@link Phase#CLOSE}, however long draining takes.
         *
         * @param closeReserve positive, and shorter than the grace period by more than 250 ms; default 5 s
         * @return this builder
         */
        public Builder closeReserve(Duration closeReserve) {
            this.closeReserve = requirePositive("closeReserve", closeReserve);
            return this;
        }

        /**
         * Sets how long work is still admitted after readiness has gone down, while those who route requests find out.
         * Touch it where the platform's own pause before the signal ({@code preStop}) is not used.
         *
         * @param lameDuck positive, and shorter than what the closing reserve leaves of the grace period; by default
         *     there is none
         * @return this builder
         */
        public Builder lameDuck(Duration lameDuck) {
            this.lameDuck = requirePositive("lameDuck", lameDuck);
            return this;
        }

        /**
         * Sets the exit status of a process that had to be halted at the end of the grace period. An orderly end does
         * not change the status: after SIGTERM it is 143.
         *
         * @param forcedExitStatus 1 to 255; default 1
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder forcedExitStatus(int forcedExitStatus) {
            if (forcedExitStatus < 1 || forcedExitStatus > 255) {
                throw new IllegalArgumentException(
                        "forcedExitStatus is " + forcedExitStatus + ", use a value from 1 to 255");
            }
            this.forcedExitStatus = forcedExitStatus;
            return this;
        }

        Builder time(TimeSource time) {
            this.time = time;
            return this;
        }

        Builder log(Logger log) {
            this.log = log;
            return this;
        }

        Builder halt(IntConsumer halt) {
            this.halt = halt;
            return this;
        }

        Builder lastWords(Consumer<String> lastWords) {
            this.lastWords = lastWords;
            return this;
        }

        /**
         * Checks the options and creates the shutdown. Also rehearses one with nothing to do, so that at the real one no
         * class of this package has to be loaded any more.
         *
         * @return a new shutdown in {@link State#RUNNING}
         * @throws IllegalArgumentException if the options contradict each other
         */
        public GracefulShutdown build() {
            Duration forWork = grace.minus(closeReserve).minus(Cutoffs.MARGIN);
            if (grace.compareTo(LONGEST_GRACE) > 0) {
                throw new IllegalArgumentException("grace is " + grace + ", use at most " + LONGEST_GRACE);
            }
            if (forWork.isNegative() || forWork.isZero()) {
                throw new IllegalArgumentException("closeReserve is " + closeReserve + ", which with a margin of "
                        + Cutoffs.MARGIN + " leaves nothing of grace " + grace + "; raise grace or lower closeReserve");
            }
            if (lameDuck.compareTo(forWork) >= 0) {
                throw new IllegalArgumentException("lameDuck is " + lameDuck
                        + ", which leaves no time for draining; use" + " less than " + forWork + " or raise grace");
            }
            Rehearsal.run();
            return new GracefulShutdown(
                    new Settings(grace, closeReserve, lameDuck, forcedExitStatus, time, log, halt, lastWords));
        }

        private static Duration requirePositive(String option, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException(option + " is " + value + ", use a positive duration");
            }
            return value;
        }

        /** Not {@code System.err}, which an application may have redirected into the log that hangs. */
        private static void writeToStandardError(String text) {
            PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
            out.println(text);
        }
    }
}
