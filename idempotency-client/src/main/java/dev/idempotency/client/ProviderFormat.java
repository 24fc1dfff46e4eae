package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;

/**
 * What one provider expects of an idempotency key and promises in return; users make one for each provider they call, or
 * take one from {@link ProviderFormats}.
 *
 * @param headerName the header that carries the key
 * @param form how the key stands in it
 * @param maxLength the greatest length of a key in characters, quotes not counted; 32 to 255
 * @param alphabet the characters of a key
 * @param retention how long the provider is sure to remember a key from its first use; 1 s to 3,660 days
 * @param conflict what a 409 means
 * @param retryHeader the header by which the provider says {@code true} or {@code false} to another attempt; empty if it
 *     has none
 */
public record ProviderFormat(
        String headerName,
        KeyForm form,
        int maxLength,
        KeyAlphabet alphabet,
        Duration retention,
        ConflictMeaning conflict,
        String retryHeader) {
    /** The retention of a provider that never forgets. */
    public static final Duration FOREVER = Duration.ofDays(3660);

    /** For clocks that differ, and for the way. */
    private static final Duration LONGEST_MARGIN = Duration.ofMinutes(10);

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public ProviderFormat {
        if (!isToken(headerName)) {
            throw new IllegalArgumentException("headerName must be a header's name, but is \"" + headerName + "\"");
        }
        Objects.requireNonNull(form, "form");
        Objects.requireNonNull(alphabet, "alphabet");
        Objects.requireNonNull(conflict, "conflict");
        if (maxLength < 32 || maxLength > IdempotencyKey.MAX_LENGTH) {
            throw new IllegalArgumentException("maxLength must be between 32 and 255, but is " + maxLength
                    + ": a key that is cut shorter is no longer unique");
        }
        if (retention.compareTo(Duration.ofSeconds(1)) < 0 || retention.compareTo(FOREVER) > 0) {
            throw new IllegalArgumentException("retention must be between 1 s and 3660 days, but is " + retention);
        }
        if (!retryHeader.isEmpty() && !isToken(retryHeader)) {
            throw new IllegalArgumentException("retryHeader must be a header's name, but is \"" + retryHeader + "\"");
        }
    }

    /**
     * Returns a format with a bare key of up to 255 printable characters, and 409 read by its {@code Retry-After}.
     *
     * @param headerName the header that carries the key
     * @param retention how long the provider is sure to remember a key
     * @return the format
     */
    public static ProviderFormat of(String headerName, Duration retention) {
        return new ProviderFormat(
                headerName,
                KeyForm.BARE,
                IdempotencyKey.MAX_LENGTH,
                KeyAlphabet.PRINTABLE_ASCII,
                retention,
                ConflictMeaning.IN_PROGRESS_IF_RETRY_AFTER,
                "");
    }

    /**
     * Returns this format with another form.
     *
     * @param keyForm how the key stands in its header
     * @return the format
     */
    public ProviderFormat withForm(KeyForm keyForm) {
        return new ProviderFormat(headerName, keyForm, maxLength, alphabet, retention, conflict, retryHeader);
    }

    /**
     * Returns this format with other limits of the key.
     *
     * @param length the greatest length
     * @param characters the characters
     * @return the format
     */
    public ProviderFormat withKeys(int length, KeyAlphabet characters) {
        return new ProviderFormat(headerName, form, length, characters, retention, conflict, retryHeader);
    }

    /**
     * Returns this format with another meaning of 409.
     *
     * @param meaning what a 409 means
     * @return the format
     */
    public ProviderFormat withConflict(ConflictMeaning meaning) {
        return new ProviderFormat(headerName, form, maxLength, alphabet, retention, meaning, retryHeader);
    }

    /**
     * Returns this format with a header by which the provider steers retries.
     *
     * @param name the header's name
     * @return the format
     */
    public ProviderFormat withRetryHeader(String name) {
        return new ProviderFormat(headerName, form, maxLength, alphabet, retention, conflict, name);
    }

    /**
     * Returns the key as this provider gets it, without quotes: what to look for in the provider's own records.
     *
     * <p>A key that fits is sent as it is. One that is too long or holds other characters is replaced by the first
     * digits of its SHA-256, the same each time.
     *
     * @param key the key
     * @return the key's text at the provider
     */
    public String keyText(IdempotencyKey key) {
        String value = key.value();
        if (value.length() <= maxLength && alphabet.holds(value)) {
            return value;
        }
        String hash = HexFormat.of().formatHex(sha256(value));
        return hash.substring(0, Math.min(maxLength, hash.length()));
    }

    /**
     * Returns the value of the header for a key.
     *
     * @param key the key
     * @return the key's text, quoted where the form asks for it
     */
    public String headerValue(IdempotencyKey key) {
        String text = keyText(key);
        return form == KeyForm.BARE ? text : "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    /** How old a key may be when an attempt begins, so that the provider still knows it when the attempt ends. */
    Duration usableAge(Duration attemptTimeout) {
        Duration margin = retention.dividedBy(20);
        Duration forClocks = margin.compareTo(LONGEST_MARGIN) > 0 ? LONGEST_MARGIN : margin;
        return retention.minus(forClocks).minus(attemptTimeout);
    }

    private static boolean isToken(String name) {
        return !name.isEmpty()
                && name.chars()
                        .allMatch(character -> character < 0x7f
                                && (Character.isLetterOrDigit(character) || "!#$%&'*+-.^_`|~".indexOf(character) >= 0));
    }

    private static byte[] sha256(String value) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }
}
