package dev.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * The identity of one event, fixed by its producer; every delivery of the event carries it unchanged.
 *
 * <p>Ids are compared byte by byte. The text form of a UUID is brought to lower case first, so that the same UUID
 * written in two ways, or read from 16 bytes, is the same id.
 *
 * @param value 1 to 200 bytes of UTF-8 without control characters
 */
public record EventId(String value) implements Comparable<EventId> {
    /** The greatest length of an id, in bytes of UTF-8. */
    public static final int MAX_BYTES = 200;

    /**
     * Checks the value and brings a UUID into its canonical form.
     *
     * @throws IllegalArgumentException if the value is blank, too long or holds a control character
     */
    public EventId {
        Objects.requireNonNull(value, "value");
        if (value.isBlank()) {
            throw new IllegalArgumentException("An event id must not be blank");
        }
        int length = value.getBytes(StandardCharsets.UTF_8).length;
        if (length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "An event id has at most " + MAX_BYTES + " bytes of UTF-8, but this one has " + length);
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("An event id holds no control characters, but this one does");
        }
        if (isUuid(value)) {
            value = value.toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Returns the id with this value.
     *
     * @param value as in the constructor
     * @return the id
     */
    public static EventId of(String value) {
        return new EventId(value);
    }

    /**
     * Returns the id whose value is the canonical text of the UUID.
     *
     * @param uuid the identity
     * @return the id
     */
    public static EventId of(UUID uuid) {
        return new EventId(uuid.toString());
    }

    /**
     * Returns the UUID that this id is, if it is one.
     *
     * @return the UUID, or nothing if the value is not the canonical text of one
     */
    public Optional<UUID> asUuid() {
        return isUuid(value) ? Optional.of(UUID.fromString(value)) : Optional.empty();
    }

    /** Orders ids by their text, so that every transaction locks them in the same order (DESIGN rule T12). */
    @Override
    public int compareTo(EventId other) {
        return value.compareTo(other.value);
    }

    private static boolean isUuid(String text) {
        if (text.length() != 36) {
            return false;
        }
        for (int i = 0; i < 36; i++) {
            char character = text.charAt(i);
            boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
            if (dash ? character != '-' : Character.digit(character, 16) < 0 || character > 'f') {
                return false;
            }
        }
        return true;
    }
}
