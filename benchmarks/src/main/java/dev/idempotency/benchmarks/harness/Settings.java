package dev.idempotency.benchmarks.harness;

import java.time.Duration;

/**
 * How to measure.
 *
 * @param quick true to show only that everything works: what comes out is no figure
 * @param runs how often each form runs, not counting the one that warms up
 * @param length how long a timed run takes
 * @param rows how many rows the larger of two tables has
 * @param clients how many threads work at the same time
 * @param only a part of the names of the contests to run; empty for all
 */
public record Settings(boolean quick, int runs, Duration length, long rows, int clients, String only) {
    /** How many rows the smaller of two tables has. */
    public static final int FEW_ROWS = 10_000;

    /**
     * Returns one of two sizes.
     *
     * @param full the size for a figure
     * @param small the size that shows only that it works
     * @return the size
     */
    public int size(int full, int small) {
        return quick ? small : full;
    }
}
