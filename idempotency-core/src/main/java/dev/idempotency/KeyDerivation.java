package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Objects;
import java.util.UUID;

/**
 * Derives the keys of outgoing calls from the identity of what is being handled, so that a handler that runs again after
 * a crash sends the same key.
 *
 * <p>The result is a name-based UUID (RFC 9562, section 5.5: version 5) over the application's namespace, the parent's
 * identity and the step's name. It reveals nothing of the caller's key, and two applications, parents or steps never
 * share one. Instances are immutable and safe for use by many threads.
 */
public final class KeyDerivation {
    /** The namespace of this library, under which each application's namespace is derived. */
    private static final UUID ROOT = UUID.fromString("b1f0c7e2-6a43-5d0e-9c53-5b7f0a1d2c3e");

    private final UUID namespace;

    private KeyDerivation(UUID namespace) {
        this.namespace = namespace;
    }

    /**
     * Returns the derivation of one application.
     *
     * @param application the application's stable name, not blank; renaming it changes every derived key
     * @return the derivation
     * @throws IllegalArgumentException if the name is blank
     */
    public static KeyDerivation of(String application) {
        Objects.requireNonNull(application, "application");
        if (application.isBlank()) {
            throw new IllegalArgumentException("The application's name must not be blank: it separates the keys of"
                    + " two applications that call the same provider");
        }
        return new KeyDerivation(nameBased(ROOT, application.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Returns the key for a step of the operation recorded under this id.
     *
     * @param parent the inbound operation
     * @param step the step's stable name, unique within the operation, not blank
     * @return the same key for the same arguments, for ever
     */
    public IdempotencyKey derive(RecordId parent, String step) {
        return derive(
                step,
                "operation",
                HexFormat.of().formatHex(parent.scope().digest()),
                parent.key().value());
    }

    /**
     * Returns the key for a step of a consumer's handling of an event.
     *
     * @param consumer the consumer that handles the event
     * @param parent the event
     * @param step the step's stable name, unique within the handler, not blank
     * @return the same key for the same arguments, for ever
     */
    public IdempotencyKey derive(ConsumerId consumer, EventId parent, String step) {
        return derive(step, "event", consumer.value(), parent.value());
    }

    private IdempotencyKey derive(String step, String kind, String first, String second) {
        Objects.requireNonNull(step, "step");
        if (step.isBlank()) {
            throw new IllegalArgumentException(
                    "The step's name must not be blank: it separates two calls of one parent");
        }
        byte[] name = Digests.sha256(kind, first, second, step);
        return IdempotencyKey.of(nameBased(namespace, name).toString());
    }

    /** RFC 9562, section 5.5. */
    private static UUID nameBased(UUID namespace, byte[] name) {
        MessageDigest digest = Digests.algorithm("SHA-1");
        digest.update(ByteBuffer.allocate(16)
                .putLong(namespace.getMostSignificantBits())
                .putLong(namespace.getLeastSignificantBits())
                .flip());
        ByteBuffer hash = ByteBuffer.wrap(digest.digest(name));
        long high = (hash.getLong() & 0xffffffffffff0fffL) | 0x0000000000005000L;
        long low = (hash.getLong() & 0x3fffffffffffffffL) | 0x8000000000000000L;
        return new UUID(high, low);
    }
}
