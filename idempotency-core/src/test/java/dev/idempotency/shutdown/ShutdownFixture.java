package dev.idempotency.shutdown;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** A shutdown whose time, log and way of halting are in the hands of the test. */
final class ShutdownFixture {
    static final Reason REASON = new Reason("test");

    final ManualTime time = new ManualTime();
    final RecordingLogger log = new RecordingLogger();
    final BlockingQueue<Integer> halts = new LinkedBlockingQueue<>();
    final BlockingQueue<String> lastWords = new LinkedBlockingQueue<>();

    /** What tasks made by {@link #noting} have done, in order. */
    final List<String> done = new CopyOnWriteArrayList<>();

    /** Never counted down by itself; a task that waits for it hangs. */
    final CountDownLatch never = new CountDownLatch(1);

    /** A builder with the default options: soft cut-off at 19.75 s, hard one at 24.75 s, halt at 25 s. */
    GracefulShutdown.Builder builder() {
        return GracefulShutdown.builder().time(time).log(log).halt(halts::add).lastWords(lastWords::add);
    }

    ShutdownTask noting(String what) {
        return deadline -> done.add(what);
    }

    ShutdownTask hanging() {
        return deadline -> never.await();
    }

    static ShutdownReport await(GracefulShutdown shutdown) throws Exception {
        return shutdown.shutdown(REASON).toCompletableFuture().get(20, SECONDS);
    }

    /** The steps as {@code PHASE name Outcome}. */
    static List<String> steps(ShutdownReport report) {
        return report.steps().stream()
                .map(step -> step.phase() + " " + step.name() + " "
                        + step.outcome().getClass().getSimpleName())
                .toList();
    }
}
