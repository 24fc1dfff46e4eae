package dev.idempotency.verification.matrix;

/** What happens to a service at a step. */
enum Crash {
    /** The process is gone at once, as after SIGKILL. */
    HALT,
    /** The process stands still, as after SIGSTOP; another instance takes over, then it goes on. */
    STOP,
    /** All connections to the database are reset; what comes next never arrives there. */
    CUT,
    /** The same, and nobody can connect until the client repeats. */
    UNREACHABLE,
    /** The next request arrives at the database and is carried out; instead of its answer comes a reset. */
    LOST_ANSWER,
    /** All connections to the broker are reset. */
    BROKER_CUT;

    /** Whether it takes a process of its own to do it. */
    boolean needsProcess() {
        return this == HALT || this == STOP;
    }
}
