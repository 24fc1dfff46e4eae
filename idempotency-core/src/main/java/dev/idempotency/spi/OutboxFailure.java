package dev.idempotency.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * An attempt that failed for reasons of the event itself, to be written to its row; a relay makes it.
 *
 * @param row which row
 * @param dead true if the row is given up and becomes DEAD, false if it waits for another attempt
 * @param retryAfter how long it waits, by the database's clock; of no meaning for a dead row
 * @param error what happened, for operators: at most 1,000 characters, never the event's content
 */
public record OutboxFailure(OutboxRowId row, boolean dead, Duration retryAfter, String error) {
    /** The most characters of an error that are kept. */
    public static final int LONGEST_ERROR = 1_000;

    /** Cuts the error to its greatest length. */
    public OutboxFailure {
        Objects.requireNonNull(row, "row");
        Objects.requireNonNull(retryAfter, "retryAfter");
        // A NUL is the one character that PostgreSQL cannot store; an error must never be what fails the mark.
        error = error.replace('\0', ' ');
        if (error.length() > LONGEST_ERROR) {
            error = error.substring(0, LONGEST_ERROR);
        }
    }
}
