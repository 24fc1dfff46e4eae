package dev.idempotency.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * How much an outbox has still to publish; a store makes it without counting rows.
 *
 * @param atMost how many rows may be unfinished: the distance from the first to the last of them; 0 if there is none
 * @param oldestAge how long ago the first of them was appended, by the database's clock; zero if there is none
 */
public record OutboxBacklog(long atMost, Duration oldestAge) {
    /** Checks that the parts are present. */
    public OutboxBacklog {
        Objects.requireNonNull(oldestAge, "oldestAge");
    }
}
