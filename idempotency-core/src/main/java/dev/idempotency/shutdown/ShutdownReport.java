package dev.idempotency.shutdown;

import java.time.Duration;
import java.util.List;

/**
 * What a shutdown did; the completion of {@link GracefulShutdown#shutdown} carries it.
 *
 * @param reason the reason of the caller that began the shutdown
 * @param took from the begin of the shutdown to the end of its last phase
 * @param steps what was done, in the order in which it was begun
 */
public record ShutdownReport(Reason reason, Duration took, List<Step> steps) {
    /**
     * Copies the steps.
     *
     * @param reason the reason of the first caller
     * @param took not negative
     * @param steps in the order in which they were begun
     */
    public ShutdownReport {
        steps = List.copyOf(steps);
    }

    /**
     * Tells whether everything that had to be done was done in time.
     *
     * @return true if every step is {@link Done}
     */
    public boolean clean() {
        for (Step step : steps) {
            if (!(step.outcome() instanceof Done)) {
                return false;
            }
        }
        return true;
    }

    /**
     * One task of one phase.
     *
     * @param phase the phase in which it ran, or in which an early close was noticed
     * @param name the name under which it was registered, or {@code in-flight} for the wait for work in flight
     * @param took how long it ran, or until it was given up
     * @param outcome how it ended
     */
    public record Step(Phase phase, String name, Duration took, Outcome outcome) {}

    /** How a {@link Step} ended. */
    public sealed interface Outcome {}

    /** The task returned in time. */
    public record Done() implements Outcome {}

    /**
     * The task had not returned at its cut-off and was left running.
     *
     * @param stillRunning the task itself or, for the step {@code in-flight}, the open permits, the oldest first
     */
    public record TimedOut(List<StillRunning> stillRunning) implements Outcome {
        /**
         * Copies the list.
         *
         * @param stillRunning what was left running
         */
        public TimedOut {
            stillRunning = List.copyOf(stillRunning);
        }
    }

    /**
     * The task threw.
     *
     * @param cause what it threw
     */
    public record Failed(Throwable cause) implements Outcome {}

    /**
     * A watched resource was closed before {@link Phase#CLOSE}, so somebody else also reacts to the end of the process.
     */
    public record ClosedEarly() implements Outcome {}

    /**
     * Work that was left to itself.
     *
     * @param label the label of the permit or the name of the task
     * @param age how long it has been running
     * @param threadName the thread that entered or runs it; empty for an unnamed virtual thread
     */
    public record StillRunning(String label, Duration age, String threadName) {}
}
