package dev.idempotency.verification.matrix;

import dev.idempotency.testkit.process.Steps;
import java.util.concurrent.atomic.AtomicInteger;

/** Does something the n-th time a step is reached, and nothing else. */
final class AtStep implements Steps {
    private final String step;
    private final int occurrence;
    private final Runnable action;
    private final AtomicInteger count = new AtomicInteger();

    AtStep(String step, int occurrence, Runnable action) {
        this.step = step;
        this.occurrence = occurrence;
        this.action = action;
    }

    @Override
    public void reached(String reached) {
        if (reached.equals(step) && count.incrementAndGet() == occurrence) {
            action.run();
        }
    }

    boolean isReached() {
        return count.get() >= occurrence;
    }
}
