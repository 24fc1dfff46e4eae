package dev.idempotency.verification.worlds;

import org.jspecify.annotations.Nullable;

/**
 * The next step of a process: what it would do to the state, atomically.
 *
 * @param label what it does, for people; a process that is run again must come to the same label
 * @param kind what can happen to it
 * @param transaction the transaction it belongs to, or null outside of the database
 * @param act what it does; gives the answer, a value
 */
record Pending(String label, Kind kind, @Nullable String transaction, Act act) {
    enum Kind {
        /** Not in the database. */
        OUTSIDE,
        STATEMENT,
        /** Not in the database either; it may be done or not without the process hearing of it. */
        SEND,
        /** A statement of the user's work, which may lose against transactions that are not in the world. */
        WORK_STATEMENT,
        COMMIT,
        ROLLBACK
    }

    /** What a step does. */
    @FunctionalInterface
    interface Act {
        @Nullable
        Object on(State state);
    }

    String transactionId() {
        if (transaction == null) {
            throw new IllegalStateException("The step " + label + " is outside of the database");
        }
        return transaction;
    }
}
