package dev.idempotency.shutdown;

/**
 * One thing to do during a shutdown; applications and adapters implement it and register it with
 * {@link GracefulShutdown#on}.
 */
@FunctionalInterface
public interface ShutdownTask {
    /**
     * Does the task, and returns when it is done and not when it has merely been asked for.
     *
     * <p>Runs at most once, on a daemon thread of its own. A task that has not returned at the deadline is reported and
     * left alone: it is not interrupted, and later phases begin while it may still be running. It must not call
     * {@link System#exit}, which would block until the process is halted.
     *
     * @param deadline when the shutdown stops waiting for this task
     * @throws Exception if the task failed; it is reported as {@link ShutdownReport.Failed} and stops nothing else
     */
    void run(Deadline deadline) throws Exception;
}
