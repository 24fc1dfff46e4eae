package dev.idempotency.shutdown;

import java.time.Duration;

/**
 * The absolute instants of one shutdown, on the monotonic clock: the end of the lame-duck period, the soft cut-off of
 * work, the hard cut-off of closing, and the halt.
 */
record Cutoffs(long lameDuckEnd, long soft, long hard, long halt) {
    /** The time kept back for the report and the last log lines. */
    static final Duration MARGIN = Duration.ofMillis(250);

    static Cutoffs startingAt(long now, Settings settings) {
        long halt = now + settings.grace().toNanos();
        long hard = halt - MARGIN.toNanos();
        long soft = hard - settings.closeReserve().toNanos();
        return new Cutoffs(now + settings.lameDuck().toNanos(), soft, hard, halt);
    }

    /**
     * Returns until when a phase that begins now may last. No phase can take everything: those before the drain get
     * half of what is left, and giving claims back gets half of the closing reserve when the drain has used up its own
     * time, because a drain that ran out of time is just when there is something to give back.
     */
    long endOf(Phase phase, long now) {
        return switch (phase) {
            case ANNOUNCE -> later(lameDuckEnd, halfway(now, soft));
            case STOP_INTAKE -> halfway(now, soft);
            case DRAIN -> soft;
            case RELEASE -> later(soft, halfway(now, hard));
            case CLOSE -> hard;
        };
    }

    /** Returns until when the next of so many closers may last. */
    long endOfCloser(long now, int closersLeft) {
        return now + Math.max(0, hard - now) / closersLeft;
    }

    private static long halfway(long now, long until) {
        return now + Math.max(0, until - now) / 2;
    }

    private static long later(long one, long other) {
        return one - other >= 0 ? one : other;
    }
}
