package dev.idempotency.shutdown;

import dev.idempotency.shutdown.ShutdownReport.Done;
import dev.idempotency.shutdown.ShutdownReport.Outcome;
import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import dev.idempotency.shutdown.ShutdownReport.TimedOut;
import java.util.List;

/** What a step does and how that ends: a registered task, the wait for work in flight, or a look at a watch. */
@FunctionalInterface
interface StepBody {
    Outcome run(Deadline deadline) throws Exception;

    /** Returns the outcome of a step that is given up, {@code self} being its own thread. */
    default Outcome timedOut(StillRunning self) {
        return new TimedOut(List.of(self));
    }

    /** Whether it is worth a line and a step in the report that all is well. */
    default boolean reportsDone() {
        return true;
    }

    /** Runs a registered task. */
    record OfTask(ShutdownTask task) implements StepBody {
        @Override
        public Outcome run(Deadline deadline) throws Exception {
            task.run(deadline);
            return new Done();
        }
    }

    /** Waits until nothing is in flight; what is still running is the work and not this wait. */
    record OfInFlight(InFlight inFlight) implements StepBody {
        @Override
        public Outcome run(Deadline deadline) {
            return inFlight.awaitIdle(deadline.atNanos()) ? new Done() : new TimedOut(inFlight.stillRunning());
        }

        @Override
        public Outcome timedOut(StillRunning self) {
            return new TimedOut(inFlight.stillRunning());
        }
    }

    /** Asks a watch whether its resource is still open. */
    record OfWatch(Registrations.Watch watch) implements StepBody {
        @Override
        public Outcome run(Deadline deadline) {
            return watch.closed().getAsBoolean() ? new ShutdownReport.ClosedEarly() : new Done();
        }

        @Override
        public boolean reportsDone() {
            return false;
        }
    }
}
