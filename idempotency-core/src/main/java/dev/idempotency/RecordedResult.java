package dev.idempotency;

import java.util.Arrays;
import java.util.Objects;

/** What the record of a completed operation holds: the first answer, or the fact that it cannot be given again. */
public sealed interface RecordedResult {
    /**
     * An answer that a repeat gets again.
     *
     * <p>The arrays are copied neither in nor out for speed: whoever makes the result gives them away.
     *
     * @param status the adapter's status of the answer (for HTTP the status code; 0 where there is none)
     * @param metadata what the adapter needs beside the body (for HTTP the allow-listed headers), in its own encoding
     * @param body the answer's bytes, exactly as the first caller got them
     */
    @SuppressWarnings("ArrayRecordComponent") // bodies are large; equality and text are defined below
    record Replayable(int status, byte[] metadata, byte[] body) implements RecordedResult {
        /** Checks that both arrays are present. */
        public Replayable {
            Objects.requireNonNull(metadata, "metadata");
            Objects.requireNonNull(body, "body");
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Replayable that
                    && status == that.status
                    && Arrays.equals(metadata, that.metadata)
                    && Arrays.equals(body, that.body);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(body) * 31 + status;
        }

        /** Returns a text for logs: sizes only, never content. */
        @Override
        public String toString() {
            return "Replayable[status=" + status + ", metadata=" + metadata.length + " bytes, body=" + body.length
                    + " bytes]";
        }
    }

    /**
     * An answer that was too large, was streamed, or ended in doubt; the operation is over and never runs again.
     *
     * @param status the adapter's status of the answer, 0 where there is none
     * @param reason why it cannot be replayed, for people; at most 200 characters, no caller's data
     */
    record NotReplayable(int status, String reason) implements RecordedResult {
        /**
         * Checks the reason.
         *
         * @throws IllegalArgumentException if the reason has more than 200 characters
         */
        public NotReplayable {
            Objects.requireNonNull(reason, "reason");
            if (reason.length() > 200) {
                throw new IllegalArgumentException(
                        "A reason has at most 200 characters, but this one has " + reason.length());
            }
        }
    }
}
