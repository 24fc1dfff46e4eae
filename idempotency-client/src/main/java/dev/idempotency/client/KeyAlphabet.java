package dev.idempotency.client;

/** Which characters a provider takes in a key. */
public enum KeyAlphabet {
    /** U+0020 to U+007E: everything an {@link dev.idempotency.IdempotencyKey} can hold. */
    PRINTABLE_ASCII,
    /** U+0021 to U+007E: no space. */
    VISIBLE_ASCII,
    /** Letters, digits, {@code -} and {@code _}. */
    URL_SAFE;

    boolean holds(String text) {
        return text.chars().allMatch(this::holds);
    }

    private boolean holds(int character) {
        return switch (this) {
            case PRINTABLE_ASCII -> character >= 0x20 && character <= 0x7e;
            case VISIBLE_ASCII -> character >= 0x21 && character <= 0x7e;
            case URL_SAFE -> character < 0x7f && (Character.isLetterOrDigit(character) || "-_".indexOf(character) >= 0);
        };
    }
}
