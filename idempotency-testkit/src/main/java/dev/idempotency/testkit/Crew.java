package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads that do the same thing at the same moment. */
final class Crew implements AutoCloseable {
    private final ExecutorService threads;
    private final int size;
    private final Duration deadline;

    Crew(int size, Duration deadline) {
        this.size = size;
        this.deadline = deadline;
        this.threads = Executors.newFixedThreadPool(size);
    }

    /** Runs the task once on every thread, all of them starting together, and returns what they returned. */
    <T> List<T> together(Task<T> task) {
        CyclicBarrier start = new CyclicBarrier(size);
        List<Callable<T>> calls = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int member = i;
            calls.add(() -> {
                start.await(deadline.toMillis(), TimeUnit.MILLISECONDS);
                return task.run(member);
            });
        }
        List<Future<T>> futures = calls.stream().map(threads::submit).toList();
        return futures.stream().map(this::get).toList();
    }

    /** Runs the task on another thread and returns what it returned. */
    <T> T elsewhere(Callable<T> task) {
        return get(threads.submit(task));
    }

    private <T> T get(Future<T> future) {
        try {
            return future.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("A thread of the test failed", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("A thread of the test did not end within " + deadline, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("The test was interrupted", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            assertThat(threads.awaitTermination(deadline.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What a member of the crew does. */
    @FunctionalInterface
    interface Task<T> {
        T run(int member) throws Exception;
    }
}
