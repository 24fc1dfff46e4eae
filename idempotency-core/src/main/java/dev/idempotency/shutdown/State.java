package dev.idempotency.shutdown;

/** Where a {@link GracefulShutdown} stands; it only ever moves forward through these values. */
public enum State {
    /** No shutdown has been asked for. */
    RUNNING,

    /** Shutdown has begun and readiness is down, but work is still admitted. Skipped without a lame-duck period. */
    LAME_DUCK,

    /** No new work is admitted; work in flight may finish and claims are given back. */
    DRAINING,

    /** Resources are being closed. */
    CLOSING,

    /** All phases have ended and the {@link ShutdownReport} is complete. */
    STOPPED
}
