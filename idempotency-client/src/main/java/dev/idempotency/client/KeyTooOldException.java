package dev.idempotency.client;

import dev.idempotency.IdempotencyException;
import java.time.Duration;

/**
 * The provider may have forgotten the key before another attempt ends, so that it could act a second time; nothing was sent.
 *
 * <p>Whether an earlier attempt has acted must be found out in another way, with the provider's own look-up for instance.
 */
public final class KeyTooOldException extends IdempotencyException {
    private static final long serialVersionUID = 1L;

    /** Time since the key was first used. */
    private final Duration age;

    KeyTooOldException(Duration age, ProviderFormat format) {
        super(
                "The key was first used " + age + " ago, and the provider is sure to remember one for "
                        + format.retention()
                        + ": nothing was sent, since it could act a second time. Look the operation up"
                        + " at the provider",
                null);
        this.age = age;
    }

    /**
     * Returns how old the key is.
     *
     * @return the time since its first use, by the caller's word
     */
    public Duration age() {
        return age;
    }
}
