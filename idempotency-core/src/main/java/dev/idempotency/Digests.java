package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** Hashes of composite values whose parts cannot run into each other: every part is preceded by its length. */
final class Digests {
    private Digests() {}

    /**
     * SHA-256 over the parts, each as four bytes of length and then its UTF-16 code units: UTF-8 writes every unpaired
     * surrogate as a question mark, and two callers would be one.
     */
    static byte[] sha256(String... parts) {
        MessageDigest digest = sha256();
        for (String part : parts) {
            ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + Character.BYTES * part.length());
            bytes.putInt(part.length());
            part.chars().forEach(unit -> bytes.putChar((char) unit));
            digest.update(bytes.flip());
        }
        return digest.digest();
    }

    static MessageDigest sha256() {
        return algorithm("SHA-256");
    }

    static MessageDigest algorithm(String name) {
        try {
            return MessageDigest.getInstance(name);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no " + name + ", which every runtime must have", e);
        }
    }

    /** The first eight hexadecimal digits of the value's SHA-256: enough to match two log lines, too few to guess. */
    static String shortHex(String value) {
        byte[] hash = sha256().digest(value.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(Arrays.copyOf(hash, 4));
    }
}
