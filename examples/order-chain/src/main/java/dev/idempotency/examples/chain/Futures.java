package dev.idempotency.examples.chain;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Waiting for work of our own. */
final class Futures {
    private Futures() {}

    /** Waits for the end; a failure of our own work is a bug of the demo. */
    static void await(Future<?> work) {
        try {
            work.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("The demo has a bug", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
