package dev.idempotency;

import java.util.Objects;

/**
 * The value by which a caller names one attempt at one operation; a repeat carries the same value.
 *
 * <p>Keys are compared character by character: nothing is trimmed, folded or normalized. A key is never logged: {@link
 * #toString()} prints the first digits of its hash.
 *
 * @param value 1 to 255 printable ASCII characters (U+0020 to U+007E), not all of them spaces; the limits are those of
 *     draft-ietf-httpapi-idempotency-key-header-07, section 2.1, and of the vendors that published theirs
 */
public record IdempotencyKey(String value) {
    /** The greatest length of a key, in characters (each is one byte). */
    public static final int MAX_LENGTH = 255;

    /**
     * Checks the value.
     *
     * @throws IllegalArgumentException if the value is empty, blank, too long, or holds a character outside U+0020 to
     *     U+007E; the message names the position, never the value
     */
    public IdempotencyKey {
        Objects.requireNonNull(value, "value");
        if (value.isBlank()) {
            throw new IllegalArgumentException("An idempotency key must hold at least one character that is no space");
        }
        if (value.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "An idempotency key has at most " + MAX_LENGTH + " characters, but this one has " + value.length());
        }
        for (int i = 0; i < value.length(); i++) {
            char character = value.charAt(i);
            if (character < 0x20 || character > 0x7e) {
                throw new IllegalArgumentException("An idempotency key holds printable ASCII characters only, but"
                        + " character " + i + " is U+" + String.format("%04X", (int) character));
            }
        }
    }

    /**
     * Returns the key with this value.
     *
     * @param value as in the constructor
     * @return the key
     * @throws IllegalArgumentException if the value is no key
     */
    public static IdempotencyKey of(String value) {
        return new IdempotencyKey(value);
    }

    /** Returns a text for logs: a prefix of the key's hash, by which two log lines can be matched, never the key. */
    @Override
    public String toString() {
        return "IdempotencyKey[sha256:" + Digests.shortHex(value) + "]";
    }
}
