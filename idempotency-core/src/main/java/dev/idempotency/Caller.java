package dev.idempotency;

import java.util.Objects;

/**
 * Whose keys these are: the part of a {@link Scope} that keeps one caller from ever seeing another caller's answer.
 *
 * <p>The three kinds never meet: a principal cannot choose a name that makes it anonymous or shared.
 */
public sealed interface Caller {
    /**
     * A caller whose identity the application has established.
     *
     * @param name the stable name of the principal, 1 to 1,024 characters
     */
    record Principal(String name) implements Caller {
        /**
         * Checks the name.
         *
         * @throws IllegalArgumentException if the name is blank or too long: a caller without a name is {@link
         *     Anonymous}, never a principal with an empty one
         */
        public Principal {
            Objects.requireNonNull(name, "name");
            if (name.isBlank() || name.length() > 1024) {
                throw new IllegalArgumentException(
                        "A principal's name has 1 to 1024 characters, but this one has " + name.length());
            }
        }

        /** Returns a text for logs: a prefix of the name's hash, since a name can be a person's. */
        @Override
        public String toString() {
            return "Principal[sha256:" + Digests.shortHex(name) + "]";
        }
    }

    /** All callers whose identity is not known: they share one namespace, which no principal can enter. */
    record Anonymous() implements Caller {}

    /**
     * Every caller of the operation: the choice for keys that are unguessable or made by the application itself.
     *
     * <p>With it, whoever presents a key gets the answer recorded under it.
     */
    record Shared() implements Caller {}
}
