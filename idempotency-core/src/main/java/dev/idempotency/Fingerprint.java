package dev.idempotency;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;

/**
 * What a request asked for, in a few bytes: a repeat under the same key must bring the same fingerprint.
 *
 * <p>Two fingerprints match when either is {@link #none()} or when their bytes are equal. Fingerprints made by different
 * functions never match, so a deploy that changes the function answers repeats of older requests with a mismatch; it
 * never runs them again.
 */
public final class Fingerprint {
    /** The greatest length of a fingerprint, in bytes. */
    public static final int MAX_LENGTH = 64;

    private static final Fingerprint NONE = new Fingerprint(new byte[0]);

    private final byte[] bytes;

    private Fingerprint(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Returns the fingerprint that matches every other: nothing is compared.
     *
     * @return the empty fingerprint
     */
    public static Fingerprint none() {
        return NONE;
    }

    /**
     * Returns the SHA-256 of the parts, each preceded by its length.
     *
     * @param function a short name of what the parts are, so that two functions never produce equal fingerprints
     * @param parts the bytes to cover, in order
     * @return the fingerprint, 32 bytes
     */
    public static Fingerprint sha256(String function, byte[]... parts) {
        MessageDigest digest = Digests.sha256();
        digest.update(Digests.sha256(function));
        for (byte[] part : parts) {
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).flip());
            digest.update(part);
        }
        return new Fingerprint(digest.digest());
    }

    /**
     * Returns the fingerprint with these bytes, for stores that read one back and for own functions.
     *
     * @param bytes 0 to 64 bytes; none of them means {@link #none()}
     * @return the fingerprint
     * @throws IllegalArgumentException if there are more than 64 bytes
     */
    public static Fingerprint of(byte[] bytes) {
        Objects.requireNonNull(bytes, "bytes");
        if (bytes.length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "A fingerprint has at most " + MAX_LENGTH + " bytes, but this one has " + bytes.length);
        }
        return bytes.length == 0 ? NONE : new Fingerprint(bytes.clone());
    }

    /**
     * Tells whether a request with the other fingerprint may be taken for a repeat of one with this.
     *
     * @param other the other fingerprint
     * @return true if either is empty or both are equal
     */
    public boolean matches(Fingerprint other) {
        return isNone() || other.isNone() || MessageDigest.isEqual(bytes, other.bytes);
    }

    /**
     * Tells whether this is {@link #none()}.
     *
     * @return true if nothing is compared
     */
    public boolean isNone() {
        return bytes.length == 0;
    }

    /**
     * Returns the bytes to store.
     *
     * @return a new array of 0 to 64 bytes
     */
    public byte[] toBytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Fingerprint that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns a text for logs: the first digits only. */
    @Override
    public String toString() {
        return "Fingerprint[" + HexFormat.of().formatHex(Arrays.copyOf(bytes, Math.min(4, bytes.length))) + "]";
    }
}
