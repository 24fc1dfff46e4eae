package dev.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The explicit, stable name of one consumer of events; each consumer sees every event once.
 *
 * <p>It is never derived from a class or bean: renaming a class must not run history again.
 *
 * @param value 1 to 200 bytes of UTF-8 without control characters
 */
public record ConsumerId(String value) {
    /**
     * Checks the value.
     *
     * @throws IllegalArgumentException if the value is blank, too long or holds a control character
     */
    public ConsumerId {
        Objects.requireNonNull(value, "value");
        int length = value.getBytes(StandardCharsets.UTF_8).length;
        if (value.isBlank() || length > 200 || value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("A consumer id has 1 to 200 bytes of UTF-8, not blank and without"
                    + " control characters, but this one has " + length + ": \"" + value + "\"");
        }
    }

    /**
     * Returns the consumer id with this value.
     *
     * @param value as in the constructor
     * @return the consumer id
     */
    public static ConsumerId of(String value) {
        return new ConsumerId(value);
    }
}
