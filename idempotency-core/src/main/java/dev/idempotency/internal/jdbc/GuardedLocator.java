package dev.idempotency.internal.jdbc;

import org.jspecify.annotations.NullUnmarked;

/**
 * A handle to a value inside the database.
 *
 * <p>Locators travel both ways: user code gets one from a result set and passes it to a statement. Drivers recognise
 * their own there (and treat others as streams to copy, or not at all), so they are given back what they handed out.
 */
@NullUnmarked // a driver's null passes through untouched
abstract class GuardedLocator<D> {
    final Guard guard;
    final D delegate;

    GuardedLocator(Guard guard, D delegate) {
        this.guard = guard;
        this.delegate = delegate;
    }

    @SuppressWarnings("unchecked") // each subclass is a D around a D, and callers name the interface D
    static <T> T raw(T value) {
        return value instanceof GuardedLocator<?> locator ? (T) locator.delegate : value;
    }

    /** The driver's text: PostgreSQL's arrays are sent by it. */
    @Override
    public String toString() {
        return delegate.toString();
    }
}
