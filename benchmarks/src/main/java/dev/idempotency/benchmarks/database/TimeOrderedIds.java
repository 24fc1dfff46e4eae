package dev.idempotency.benchmarks.database;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** UUIDs of version 7, as clients draw them that care for their indexes. Safe for use by many threads. */
public final class TimeOrderedIds {
    private final AtomicLong sequence = new AtomicLong();

    /**
     * Draws an id.
     *
     * @return an id that sorts behind those of earlier milliseconds
     */
    public UUID next() {
        long time = System.currentTimeMillis() << 16;
        long count = sequence.getAndIncrement() & 0xfff;
        long random = ThreadLocalRandom.current().nextLong() & 0x3fff_ffff_ffff_ffffL;
        return new UUID(time | 0x7000 | count, 0x8000_0000_0000_0000L | random);
    }

    /**
     * Draws ids.
     *
     * @param number how many
     * @return the ids
     */
    public List<UUID> next(int number) {
        List<UUID> ids = new ArrayList<>(number);
        for (int i = 0; i < number; i++) {
            ids.add(next());
        }
        return ids;
    }
}
