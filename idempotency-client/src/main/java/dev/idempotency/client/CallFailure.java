package dev.idempotency.client;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.util.Objects;

/** What the last attempt of a call without an answer met. */
public sealed interface CallFailure {
    /**
     * The provider answered, with a status that leaves open whether it acted.
     *
     * @param status the status code
     * @param headers the answer's headers
     * @param body the answer's body for people; a new array of at most 65,536 bytes, what was longer is cut off
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared, copied out
    record Refused(int status, HttpHeaders headers, byte[] body) implements CallFailure {
        static final int MAX_BODY = 65_536;

        /** Copies the body. */
        public Refused {
            Objects.requireNonNull(headers, "headers");
            body = body.clone();
        }

        /** {@return a copy of the body} */
        @Override
        public byte[] body() {
            return body.clone();
        }

        /** Returns a text for logs: the status and the body's size, never content. */
        @Override
        public String toString() {
            return "Refused[status=" + status + ", body=" + body.length + " bytes]";
        }
    }

    /**
     * The exchange broke off.
     *
     * @param cause what the connection met
     */
    record Broken(IOException cause) implements CallFailure {
        /** Checks that the cause is present. */
        public Broken {
            Objects.requireNonNull(cause, "cause");
        }
    }
}
