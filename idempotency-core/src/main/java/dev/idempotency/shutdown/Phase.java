package dev.idempotency.shutdown;

/**
 * The five steps of a shutdown, in the order in which they run; applications and adapters register tasks for them with
 * {@link GracefulShutdown#on}. Tasks of one phase run at the same time, except in {@link #CLOSE}, and a phase begins
 * only when every task of the one before has ended or was given up.
 */
public enum Phase {
    /**
     * Tell the outside world: leave the discovery service, let readiness turn to 503. Tasks may take half of the time
     * that is left before closing, or the lame-duck period if that is longer.
     */
    ANNOUNCE,

    /**
     * Take no new work: stop schedulers, pollers and consumers from handing out more. Work can no longer enter
     * {@link GracefulShutdown#inFlight()} when this phase begins. Tasks may take half of the time that is left before
     * closing.
     */
    STOP_INTAKE,

    /**
     * Finish what has been begun. The wait for {@link GracefulShutdown#inFlight()} is built in and is reported as the
     * task {@code in-flight}. Tasks may take until the closing reserve begins.
     */
    DRAIN,

    /**
     * Give back what was claimed and not begun, and leave groups. Resources are still open. Tasks may take until the
     * closing reserve begins or, if draining has used that up, half of the reserve.
     */
    RELEASE,

    /**
     * Close resources, one after the other, in reverse order of registration, so that what was opened first is closed
     * last. Each task gets an equal share of the time that is left.
     */
    CLOSE
}
