package dev.idempotency.shutdown;

/**
 * What {@link GracefulShutdown} hands to whoever registers something; close it when the component ends before the
 * shutdown does.
 *
 * <p>Thread-safe.
 */
public final class Registration implements AutoCloseable {
    private final Registrations registrations;
    private final Object entry;

    Registration(Registrations registrations, Object entry) {
        this.registrations = registrations;
        this.entry = entry;
    }

    /** Takes the registration back. Does nothing when repeated, or once the shutdown has begun. */
    @Override
    public void close() {
        registrations.remove(entry);
    }
}
