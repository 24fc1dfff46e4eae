package dev.idempotency.spi;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One header of an event as it was received; names may repeat.
 *
 * @param name the name
 * @param value the bytes, or null
 */
@SuppressWarnings("ArrayRecordComponent")
public record EventHeader(String name, byte @Nullable [] value) {
    /** Copies the bytes. */
    public EventHeader {
        Objects.requireNonNull(name, "name");
        value = value == null ? null : value.clone();
    }

    /** {@return a copy of the value, or null for a header without one} */
    @Override
    public byte @Nullable [] value() {
        return value == null ? null : value.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EventHeader that && name.equals(that.name) && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + Arrays.hashCode(value);
    }

    /** Returns the name and the length: a value may hold what must not be logged. */
    @Override
    public String toString() {
        return name + "[" + (value == null ? "null" : value.length + " bytes") + "]";
    }
}
