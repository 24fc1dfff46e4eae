package dev.idempotency.examples.chain;

import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Does something bad to the chain again and again, after random pauses, until the load is over. */
abstract class Trouble implements Runnable {
    private static final long GLANCE_MILLIS = 200;

    private final BooleanSupplier over;
    private final SplittableRandom random;
    private final long shortestPauseMillis;
    private final long longestPauseMillis;

    Trouble(BooleanSupplier over, SplittableRandom random, long shortestPauseMillis, long longestPauseMillis) {
        this.over = over;
        this.random = random;
        this.shortestPauseMillis = shortestPauseMillis;
        this.longestPauseMillis = longestPauseMillis;
    }

    /** Does it once, and leaves everything as it was but for the damage. */
    abstract void strike(SplittableRandom chance) throws Exception;

    @Override
    public final void run() {
        while (pause(random.nextLong(shortestPauseMillis, longestPauseMillis + 1))) {
            try {
                strike(random);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (Exception e) {
                throw new IllegalStateException(getClass().getSimpleName() + " failed: " + e.getMessage(), e);
            }
        }
    }

    /** False if the load is over before the end of the pause. */
    private boolean pause(long millis) {
        for (long left = millis; left > 0; left -= GLANCE_MILLIS) {
            if (over.getAsBoolean()) {
                return false;
            }
            Pause.ofMillis(Math.min(left, GLANCE_MILLIS));
        }
        return !over.getAsBoolean();
    }
}
