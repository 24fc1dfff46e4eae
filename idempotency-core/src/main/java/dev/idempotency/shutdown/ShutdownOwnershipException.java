package dev.idempotency.shutdown;

import dev.idempotency.IdempotencyException;

/**
 * Thrown at start when two parties want to react to the end of the JVM; whoever wires the application removes one of
 * them. Nothing has been installed or changed by the refused call.
 */
public final class ShutdownOwnershipException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /** The party that already owns the JVM's shutdown. */
    private final String currentOwner;

    /** The party that was refused. */
    private final String refusedOwner;

    ShutdownOwnershipException(String currentOwner, String refusedOwner) {
        super(
                "The shutdown of this JVM cannot be owned by '" + refusedOwner + "': it is owned by '" + currentOwner
                        + "'. Keep one owner; every other party registers tasks, or calls shutdown from its own lifecycle.",
                null);
        this.currentOwner = currentOwner;
        this.refusedOwner = refusedOwner;
    }

    /**
     * Returns the party that keeps the ownership.
     *
     * @return the name given with the first claim
     */
    public String currentOwner() {
        return currentOwner;
    }

    /**
     * Returns the party that was refused.
     *
     * @return the name given with the second claim
     */
    public String refusedOwner() {
        return refusedOwner;
    }
}
