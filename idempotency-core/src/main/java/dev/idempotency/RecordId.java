package dev.idempotency;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Objects;

/**
 * What identifies the record of one operation: the key together with the scope in which it is valid.
 *
 * @param scope where the key is valid
 * @param key the caller's key
 */
public record RecordId(Scope scope, IdempotencyKey key) {
    /** Checks that both parts are present. */
    public RecordId {
        Objects.requireNonNull(scope, "scope");
        Objects.requireNonNull(key, "key");
    }

    /**
     * Returns 64 bits for an advisory lock on this record.
     *
     * <p>Two records can share a value; a lock taken with it may therefore refuse a stranger, and must never be what
     * the guarantee rests on.
     *
     * @return the first eight bytes of a hash over scope and key
     */
    public long lockHash() {
        byte[] hash = Digests.sha256("lock-1", HexFormat.of().formatHex(scope.digest()), key.value());
        return ByteBuffer.wrap(hash).getLong();
    }
}
