package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WaitersTest {
    private static final String BUSY = "busy";
    private static final Duration LONG = Duration.ofMinutes(10);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicInteger asked = new AtomicInteger();
    private final Waiters waiters = new Waiters(1, nanos::get, open::get);

    private String await(Duration longest, String... answers) {
        return waiters.await(longest, BUSY::equals, () -> answers[asked.getAndIncrement()]);
    }

    @Test
    void await_otherAnswer_isReturnedAtOnce() {
        assertThat(await(LONG, "done")).isEqualTo("done");
        assertThat(asked.get()).isEqualTo(1);
    }

    @Test
    void await_noWait_asksOnce() {
        assertThat(await(Duration.ZERO, BUSY, "done")).isEqualTo(BUSY);
        assertThat(asked.get()).isEqualTo(1);
    }

    @Test
    void await_busyAtFirst_asksAgain() {
        assertThat(await(LONG, BUSY, BUSY, BUSY, "done")).isEqualTo("done");
        assertThat(asked.get()).isEqualTo(4);
    }

    /** The ticker runs over the largest long on the way, as a monotonic clock may. */
    @Test
    void await_busyToTheEnd_endsByTheTicker() {
        String answer = waiters.await(Duration.ofNanos(30), BUSY::equals, () -> {
            asked.incrementAndGet();
            nanos.addAndGet(10);
            return BUSY;
        });
        assertThat(answer).isEqualTo(BUSY);
        // The end is counted from after the first question.
        assertThat(asked.get()).isEqualTo(4);
    }

    @Test
    void await_shutdownBegins_givesUp() {
        open.set(false);
        assertThat(await(LONG, BUSY, "done")).isEqualTo(BUSY);
        assertThat(asked.get()).isEqualTo(1);
    }

    @Test
    void await_interrupted_givesUpAndKeepsTheFlag() {
        Thread.currentThread().interrupt();
        try {
            assertThat(await(LONG, BUSY, "done")).isEqualTo(BUSY);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(asked.get()).isEqualTo(1);
    }

    @Test
    void await_noPlaceFree_isAnsweredAtOnce() throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicBoolean busy = new AtomicBoolean(true);
        AtomicInteger looks = new AtomicInteger();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<String> first = thread.submit(() -> waiters.await(LONG, BUSY::equals, () -> {
                if (looks.incrementAndGet() > 1) {
                    waiting.countDown();
                }
                return busy.get() ? BUSY : "done";
            }));
            assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(await(LONG, BUSY, "done")).isEqualTo(BUSY);
            assertThat(asked.get()).isEqualTo(1);
            busy.set(false);
            assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("done");
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void await_questionFails_givesThePlaceBack() {
        for (int round = 0; round < 2; round++) {
            AtomicInteger looks = new AtomicInteger();
            assertThatThrownBy(() -> waiters.await(LONG, BUSY::equals, () -> {
                        if (looks.incrementAndGet() == 2) {
                            throw new IllegalStateException("asked for by the test");
                        }
                        return BUSY;
                    }))
                    .isInstanceOf(IllegalStateException.class);
        }
    }
}
