package dev.idempotency.verification.worlds;

/** Thrown by a statement that has to wait for another transaction: nothing happens until that one has ended. */
final class Blocked extends RuntimeException {
    private final int owner;

    /** Waits for a transaction of the process {@code owner}, or of nobody if it is negative. */
    Blocked(int owner) {
        super(null, null, false, false);
        this.owner = owner;
    }

    int owner() {
        return owner;
    }
}
