package dev.idempotency.examples.chain;

/** How a service is killed. */
enum Signal {
    /** At once, between any two instructions. */
    SIGKILL,
    /** Politely: the service may finish what it has begun. */
    SIGTERM
}
