package dev.idempotency.benchmarks.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Clients that repeat a step as fast as they can. */
public final class Load {
    /** What a client repeats. */
    @FunctionalInterface
    public interface Step {
        /**
         * Does it once.
         *
         * @throws Exception if it failed; the load ends
         */
        void run() throws Exception;
    }

    private Load() {}

    /**
     * Runs the step in all clients for the time that the settings say.
     *
     * @param settings how many clients, and how long
     * @param step what they repeat
     * @return how often it was done in a second
     * @throws Exception what the step threw
     */
    public static double perSecond(Settings settings, Step step) throws Exception {
        return perSecond(settings.clients(), settings.length(), step);
    }

    /**
     * Runs the step in all clients for this time.
     *
     * @param clients how many
     * @param length how long; a step that has begun is finished, and its time counts
     * @param step what they repeat
     * @return how often it was done in a second
     * @throws Exception what the step threw
     */
    public static double perSecond(int clients, Duration length, Step step) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try {
            CyclicBarrier start = new CyclicBarrier(clients);
            List<Future<Share>> shares = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                shares.add(threads.submit(() -> share(start, length, step)));
            }
            long steps = 0;
            long begin = Long.MAX_VALUE;
            long end = Long.MIN_VALUE;
            for (Future<Share> future : shares) {
                Share share = result(future);
                steps += share.steps;
                begin = Math.min(begin, share.beginNanos);
                end = Math.max(end, share.endNanos);
            }
            return steps * 1e9 / (end - begin);
        } finally {
            threads.shutdownNow();
        }
    }

    private record Share(long steps, long beginNanos, long endNanos) {}

    private static Share share(CyclicBarrier start, Duration length, Step step) throws Exception {
        start.await();
        long begin = System.nanoTime();
        long steps = 0;
        do {
            step.run();
            steps++;
        } while (System.nanoTime() - begin < length.toNanos());
        return new Share(steps, begin, System.nanoTime());
    }

    private static <T> T result(Future<T> future) throws Exception {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }
}
