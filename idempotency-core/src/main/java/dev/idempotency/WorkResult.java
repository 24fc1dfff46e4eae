package dev.idempotency;

import java.util.Objects;

/** How the work of an operation ended, and so what is kept of it. */
public sealed interface WorkResult {
    /**
     * The effect happened: commit it together with the result.
     *
     * @param result what repeats will get
     */
    record Succeeded(RecordedResult result) implements WorkResult {
        /** Checks that the result is present. */
        public Succeeded {
            Objects.requireNonNull(result, "result");
        }
    }

    /**
     * The request was refused for good: roll the work back and keep the answer alone.
     *
     * <p>Under {@link Protection#LEASED} there is nothing to roll back.
     *
     * @param result what repeats will get
     */
    record Refused(RecordedResult result) implements WorkResult {
        /** Checks that the result is present. */
        public Refused {
            Objects.requireNonNull(result, "result");
        }
    }

    /**
     * The work failed: roll it back and keep nothing, so that a repeat runs.
     *
     * <p>Under {@link Protection#LEASED} the effect is in doubt: the answer is kept, unless {@link
     * IdempotencyContext#markNoEffect()} was called.
     *
     * @param answer what the caller is told, and repeats too where it is kept
     */
    record Failed(RecordedResult answer) implements WorkResult {
        /** Checks that the answer is present. */
        public Failed {
            Objects.requireNonNull(answer, "answer");
        }
    }
}
