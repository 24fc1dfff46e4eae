package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One logical operation under one key, over all attempts at it; whoever sends them makes it by {@link KeyPolicy#call}, before the
 * first attempt and outside of what repeats it.
 *
 * <p>It remembers what the first attempt asked for, and refuses an attempt that asks for something else: a provider that is
 * sent other bytes under the same key answers with the first result or an error, and both are taken for something they are
 * not. Safe for use by many threads.
 */
public final class KeyedCall {
    private final KeyPolicy policy;
    private final IdempotencyKey key;
    private final Instant firstUsedAt;
    private final AtomicReference<@Nullable Asked> first = new AtomicReference<>();

    KeyedCall(KeyPolicy policy, IdempotencyKey key, Instant firstUsedAt) {
        this.policy = policy;
        this.key = Objects.requireNonNull(key, "key");
        this.firstUsedAt = Objects.requireNonNull(firstUsedAt, "firstUsedAt");
    }

    /**
     * Returns the operation's key.
     *
     * @return the key
     */
    public IdempotencyKey key() {
        return key;
    }

    /**
     * Returns the policy that made this call.
     *
     * @return the policy
     */
    public KeyPolicy policy() {
        return policy;
    }

    /**
     * Must be asked before each attempt is sent.
     *
     * @param method the request's method
     * @param uri where it is to go
     * @param present the values that the key's header, {@link ProviderFormat#headerName()}, has on the request
     * @param body the request's bytes; empty if it has none
     * @return the value to set the header to; empty if it stands there already, or the method is safe and needs none
     * @throws KeyTooOldException if the provider could have forgotten the key before the attempt ends
     * @throws IllegalArgumentException if the request carries another key, or asks for something else than the first attempt
     *     did: nothing may be sent
     */
    public Optional<String> beginAttempt(String method, URI uri, List<String> present, byte[] body) {
        if (KeyPolicy.isSafe(method)) {
            return Optional.empty();
        }
        Optional<String> header = policy.headerToAdd(present, key);
        Asked asked = new Asked(method, uri, sha256(body));
        Asked before = first.compareAndExchange(null, asked);
        if (before != null) {
            asked.requireSameAs(before);
        }
        Duration age = policy.ageOf(firstUsedAt);
        if (!policy.isUsable(age)) {
            throw new KeyTooOldException(age, policy.format());
        }
        return header;
    }

    private static byte[] sha256(byte[] body) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(body);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }

    /** Returns a text for logs: never the key. */
    @Override
    public String toString() {
        return "KeyedCall[" + key + "]";
    }

    /** What an attempt asks for. */
    @SuppressWarnings("ArrayRecordComponent") // compared here and nowhere else
    private record Asked(String method, URI uri, byte[] bodyHash) {
        void requireSameAs(Asked before) {
            if (!Origin.of(uri).equals(Origin.of(before.uri))) {
                throw new IllegalArgumentException("The attempt goes to " + Origin.of(uri) + " and the first one to "
                        + Origin.of(before.uri) + ": a key means nothing elsewhere and stays with its origin");
            }
            if (!method.equals(before.method) || !uri.equals(before.uri)) {
                throw new IllegalArgumentException("The attempt has another method or address than the first one under"
                        + " the same key: a key belongs to one operation");
            }
            if (!Arrays.equals(bodyHash, before.bodyHash)) {
                throw new IllegalArgumentException("The attempt has another body than the first one under the same key:"
                        + " keep its bytes, or use another key for another operation");
            }
        }
    }
}
