package dev.idempotency.operation;

import dev.idempotency.OperationOutcome;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What became of one call with a typed result; users of {@code tryExecute} get it.
 *
 * <p>A result that is null, work without a result, and no result yet are three different things: the first is a value,
 * the second a {@code Void}, the third {@link WithoutResult}.
 *
 * @param <T> the type of the result
 */
public sealed interface TypedOutcome<T extends @Nullable Object> {
    /**
     * Returns the result, or throws what stood in its way.
     *
     * @return the result of {@link Executed} and {@link Replayed}
     * @throws OperationException for every situation but the next, as its own final class
     * @throws dev.idempotency.IdempotencyException what the store said, where it could not be asked
     */
    T orThrow();

    /**
     * The work ran, and effect, result and record are committed.
     *
     * @param <T> the type of the result
     * @param value what the work returned
     */
    record Executed<T extends @Nullable Object>(T value) implements TypedOutcome<T> {
        @Override
        public T orThrow() {
            return value;
        }

        /** Returns a text for logs, without the result. */
        @Override
        public String toString() {
            return "Executed[]";
        }
    }

    /**
     * The operation was over before; the work did not run.
     *
     * @param <T> the type of the result
     * @param value the first result, decoded
     */
    record Replayed<T extends @Nullable Object>(T value) implements TypedOutcome<T> {
        @Override
        public T orThrow() {
            return value;
        }

        /** Returns a text for logs, without the result. */
        @Override
        public String toString() {
            return "Replayed[]";
        }
    }

    /**
     * The operation was over before, and its result cannot be read by this version of the application; the work did not
     * run and never will.
     *
     * @param <T> the type of the result
     * @param failure names the format and what is wrong
     */
    record Unreadable<T extends @Nullable Object>(ResultUnreadableException failure) implements TypedOutcome<T> {
        /** Checks that the failure is present. */
        public Unreadable {
            Objects.requireNonNull(failure, "failure");
        }

        @Override
        public T orThrow() {
            throw failure;
        }
    }

    /**
     * There is no result to give: another attempt runs, the key was used for something else, the store could not be
     * asked, and so on.
     *
     * @param <T> the type of the result
     * @param outcome why not; never {@link OperationOutcome.Executed} or {@link OperationOutcome.Replayed}
     */
    record WithoutResult<T extends @Nullable Object>(OperationOutcome outcome) implements TypedOutcome<T> {
        /**
         * Checks the outcome.
         *
         * @throws IllegalArgumentException if the outcome is one with a result
         */
        public WithoutResult {
            if (outcome instanceof OperationOutcome.Executed || outcome instanceof OperationOutcome.Replayed) {
                throw new IllegalArgumentException("This outcome has a result: " + outcome);
            }
        }

        @Override
        public T orThrow() {
            throw Failures.of(outcome);
        }
    }
}
