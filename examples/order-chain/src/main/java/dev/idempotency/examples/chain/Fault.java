package dev.idempotency.examples.chain;

import java.util.Locale;

/** What the soak does to the chain. */
enum Fault {
    /** A service is killed between any two instructions. */
    SIGKILL,
    /** A service is asked to end, and now and then stopped while it does. */
    SIGTERM,
    /** A service stands still for a while, in the middle of its work or of its end. */
    SIGSTOP,
    /** Connections to the database are cut at the server. */
    BACKEND,
    /** Statements are cut off by the server, as when a disk is full or too slow. */
    STATEMENT,
    /** The broker is stopped and started again. */
    BROKER,
    /** The clock of a service jumps. */
    CLOCK;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
