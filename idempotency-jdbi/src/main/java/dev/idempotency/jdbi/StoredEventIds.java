package dev.idempotency.jdbi;

import dev.idempotency.EventId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The form in which event ids are stored: 16 bytes, whatever their text.
 *
 * <p>A hashed id has version 8, which RFC 9562 leaves to applications: it meets no UUID of another version, and another
 * hash only with the probability of equal hashes.
 */
final class StoredEventIds {
    private StoredEventIds() {}

    static UUID of(EventId id) {
        return id.asUuid().orElseGet(() -> hash(id.value()));
    }

    private static UUID hash(String value) {
        ByteBuffer hash = ByteBuffer.wrap(sha256().digest(value.getBytes(StandardCharsets.UTF_8)));
        long high = (hash.getLong() & 0xffffffffffff0fffL) | 0x0000000000008000L;
        long low = (hash.getLong() & 0x3fffffffffffffffL) | 0x8000000000000000L;
        return new UUID(high, low);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }
}
