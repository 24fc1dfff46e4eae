package dev.idempotency.shutdown;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The exclusive right to react to the end of the JVM; whoever claimed it with {@link GracefulShutdown#ownJvmShutdown}
 * or {@link GracefulShutdown#reserveJvmShutdown} closes it to give it up, for instance when a container undeploys the
 * application.
 *
 * <p>An application that lives as long as its JVM does not close it. Thread-safe.
 */
public final class Ownership implements AutoCloseable {
    private final String owner;
    private final Runnable release;
    private final AtomicBoolean released = new AtomicBoolean();

    Ownership(String owner, Runnable release) {
        this.owner = owner;
        this.release = release;
    }

    /**
     * Returns who owns.
     *
     * @return the name given with the claim
     */
    public String owner() {
        return owner;
    }

    /**
     * Gives the right up: the hook, if one was installed, is removed, and another party can claim. Only the first call
     * has an effect. When the JVM is already ending the hook runs nevertheless; it does not throw then.
     */
    @Override
    public void close() {
        if (released.compareAndSet(false, true)) {
            release.run();
        }
    }

    @Override
    public String toString() {
        return "Ownership[" + owner + "]";
    }
}
