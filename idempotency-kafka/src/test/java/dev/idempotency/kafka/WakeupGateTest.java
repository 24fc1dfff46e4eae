package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wake-up ends the poll it was meant for and never the call behind it. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class WakeupGateTest {
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch polling = new CountDownLatch(1);
    private final CountDownLatch mayReturn = new CountDownLatch(1);

    /** As Kafka's own: a wake-up stays pending until a poll or a commit throws it. */
    private boolean pending;

    private boolean holdsThePoll;
    private final WakeupGate gate = new WakeupGate(consumer());

    @SuppressWarnings("unchecked")
    private Consumer<byte[], byte[]> consumer() {
        return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(
                Consumer.class.getClassLoader(), new Class<?>[] {Consumer.class}, (proxy, method, arguments) -> {
                    calls.add(method.getName());
                    return switch (method.getName()) {
                        case "poll" -> poll();
                        case "assignment" -> Set.of();
                        case "wakeup" -> wakeUp();
                        default -> null;
                    };
                });
    }

    private synchronized @Nullable Object wakeUp() {
        pending = true;
        return null;
    }

    private synchronized void consumePending() {
        if (pending) {
            pending = false;
            throw new WakeupException();
        }
    }

    private ConsumerRecords<byte[], byte[]> poll() throws InterruptedException {
        if (!holdsThePoll) {
            consumePending();
            return new ConsumerRecords<>(Map.of(), Map.of());
        }
        // The wake-up comes when this poll has found records already and looks for wake-ups no more.
        polling.countDown();
        mayReturn.await();
        holdsThePoll = false;
        return new ConsumerRecords<>(Map.of(), Map.of());
    }

    private synchronized boolean isPending() {
        return pending;
    }

    @Test
    void close_outsideAPoll_wakesNobodyAndEndsLaterPolls() {
        gate.close();

        assertThat(gate.poll(Duration.ofMinutes(1))).isEmpty();
        assertThat(calls).isEmpty();
    }

    @Test
    void close_whenThePollIsAlreadyOver_leavesNoWakeUpForTheCommit() throws Exception {
        holdsThePoll = true;
        CompletableFuture<Integer> poll = CompletableFuture.supplyAsync(
                () -> gate.poll(Duration.ofMinutes(1)).count());
        polling.await();
        gate.close();
        assertThat(isPending()).isTrue();
        mayReturn.countDown();

        assertThat(poll.get(10, TimeUnit.SECONDS)).isZero();

        assertThat(isPending()).as("left for the next call, a commit").isFalse();
    }

    @Test
    void close_twice_wakesAtMostOncePerPoll() {
        gate.close();
        gate.close();

        assertThat(calls).doesNotContain("wakeup");
    }
}
