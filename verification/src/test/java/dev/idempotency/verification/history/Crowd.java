package dev.idempotency.verification.history;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;

/** A few threads that begin together, again and again. */
final class Crowd implements AutoCloseable {
    private static final long DEADLINE_SECONDS = 120;

    private final int size;
    private final ExecutorService threads;

    Crowd(int size) {
        this.size = size;
        this.threads = Executors.newFixedThreadPool(size);
    }

    /** Runs the task once on each thread, with its number, and waits for all. */
    void together(IntConsumer task) {
        CyclicBarrier start = new CyclicBarrier(size);
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < size; thread++) {
            int number = thread;
            running.add(threads.submit(() -> {
                start.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
                task.accept(number);
                return null;
            }));
        }
        for (Future<?> each : running) {
            try {
                each.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError("A thread failed", e.getCause());
            } catch (TimeoutException e) {
                throw new AssertionError("A thread did not end", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted", e);
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
