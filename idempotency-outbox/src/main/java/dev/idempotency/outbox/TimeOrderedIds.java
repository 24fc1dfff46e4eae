package dev.idempotency.outbox;

import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.UUID;

/** Draws UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then 74 random bits. Thread-safe. */
final class TimeOrderedIds {
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    TimeOrderedIds(InstantSource clock) {
        this.clock = clock;
    }

    UUID next() {
        long high = (clock.millis() << 16) | 0x7000L | (random.nextLong() & 0x0fffL);
        long low = (random.nextLong() & 0x3fffffffffffffffL) | 0x8000000000000000L;
        return new UUID(high, low);
    }
}
