package dev.idempotency.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.testkit.memory.InMemoryDatabase;
import dev.idempotency.testkit.memory.InMemoryOutboxStore;
import dev.idempotency.testkit.memory.InMemoryPublisher;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A row that is passed over holds its key until it has been read again, whatever the reason: what happens between two
 * rows of one batch, or behind the cursor, happens here exactly there, because the publisher and the clock do it.
 */
class KeyOrderTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final String NAME = "relay";

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryOutboxStore store = InMemoryOutboxStore.of(database);
    private final InMemoryPublisher publisher = InMemoryPublisher.create();
    private final Map<String, Runnable> whenPublished = new HashMap<>();
    private final Map<String, Kind> failures = new HashMap<>();
    private final AtomicInteger leasesLookedAt = new AtomicInteger();
    private LongSupplier ticker = () -> 0;
    private int batchSize = 100;
    private boolean failsOnce;
    private Steps steps = any -> {};
    private @Nullable OutboxRelay started;
    private @Nullable LeaseSource source;

    @AfterEach
    void close() {
        relay().close();
    }

    private OutboxRelay relay() {
        return Objects.requireNonNull(started);
    }

    /** Starts a relay whose clock stands still, unless a test moves it: it never sweeps because a second has passed. */
    private void start(RetryPolicy retry) {
        publisher.answer(this::answer);
        RelaySettings settings = new RelaySettings(
                NAME,
                NAME,
                batchSize,
                1_000,
                1 << 20,
                Duration.ofHours(1),
                1,
                Duration.ofMillis(1),
                Duration.ofMillis(5),
                retry,
                PublishedRows.DELETE,
                Ordering.KEY,
                CarefulListener.NONE,
                () -> ticker.getAsLong(),
                () -> 0.5);
        EventsInFlight inFlight = new EventsInFlight(settings.mostInFlight(), settings.mostBytesInFlight());
        LeasedOutboxStore stepped = Stepped.outbox(LeasedOutboxStore.class, store, steps);
        OutboxRelay relay = new OutboxRelay(
                settings,
                nudge -> source = new LeaseSource(stepped, settings, inFlight, null, () -> {
                    leasesLookedAt.incrementAndGet();
                    nudge.run();
                }),
                publisher,
                inFlight,
                null);
        started = relay;
        relay.start();
    }

    private PublishOutcome answer(OutboxRow row) {
        String name = name(row);
        Runnable hook = whenPublished.remove(name);
        if (hook != null) {
            hook.run();
        }
        Kind failure = failsOnce ? failures.remove(name) : failures.get(name);
        return failure == null ? new PublishOutcome.Published() : InMemoryPublisher.failed(failure);
    }

    /** Appends events in one transaction, each written as topic, key and number: {@code A:k0}. */
    private void append(String... names) {
        database.run(TransactionLimits.ofDefaults(), transaction -> {
            List<OutboxEvent> events = new ArrayList<>();
            for (String name : names) {
                events.add(OutboxEvent.to(name.substring(0, 1))
                        .key(name.substring(2, 3))
                        .payload(name)
                        .build());
            }
            return Outbox.of(store).appendAll(transaction, events);
        });
    }

    private static String name(OutboxRow row) {
        return new String(row.event().payload().orElseThrow(), StandardCharsets.UTF_8);
    }

    private List<String> arrived() {
        return publisher.arrived().stream().map(KeyOrderTest::name).toList();
    }

    private void awaitArrived(int events) {
        await().atMost(DEADLINE).until(() -> publisher.arrived().size() >= events);
    }

    private void awaitOneDead() {
        await().atMost(DEADLINE)
                .until(() ->
                        relay().statistics().dead() == 1 && relay().statistics().inFlight() == 1);
    }

    private static boolean onLoop() {
        return Thread.currentThread().getName().equals("outbox-relay-" + NAME);
    }

    @Test
    void headDiesInTheMiddleOfABatch_followersWaitForTheSweep() {
        append("A:k0", "A:a1", "A:k2", "A:b3", "A:k4");
        failures.put("A:k0", Kind.RECORD);
        whenPublished.put("A:b3", this::awaitOneDead);

        start(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)));

        awaitArrived(4);
        assertThat(arrived()).containsExactly("A:a1", "A:b3", "A:k2", "A:k4");
    }

    @Test
    void headDiesWhenTheCursorHasPassedItsFollowers_theyComeInOrder() {
        batchSize = 4;
        CountDownLatch mayFail = new CountDownLatch(1);
        steps = step -> {
            if (step.equals("outbox.failing")) {
                awaitLatch(mayFail);
            }
        };
        append("A:k0", "A:k1", "A:a2", "A:b3", "A:c4", "A:k5", "A:d6");
        failures.put("A:k0", Kind.RECORD);
        whenPublished.put("A:c4", () -> {
            mayFail.countDown();
            awaitOneDead();
        });

        start(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)));

        awaitArrived(6);
        assertThat(arrived()).containsSubsequence("A:c4", "A:k1", "A:k5");
    }

    @Test
    void topicResumedWhenTheCursorHasPassedItsRows_theyComeInOrder() {
        batchSize = 1;
        append("A:k0", "B:x1", "A:k2", "B:y3");
        whenPublished.put("B:x1", () -> relay().resume("A"));
        pausedAtStart("A");

        awaitArrived(4);
        assertThat(arrived()).containsSubsequence("A:k0", "A:k2");
    }

    private void pausedAtStart(String topic) {
        CountDownLatch paused = new CountDownLatch(1);
        steps = step -> {
            if (step.equals("outbox.acquiring")) {
                awaitLatch(paused);
            }
        };
        start(RetryPolicy.ofDefaults());
        relay().pause(topic);
        paused.countDown();
    }

    @Test
    void topicPausedAndResumedInTheMiddleOfABatch_itsRowsComeInOrder() {
        append("B:x0", "A:k1", "B:y2", "A:k3");
        whenPublished.put("B:x0", () -> relay().pause("A"));
        whenPublished.put("B:y2", () -> relay().resume("A"));

        start(RetryPolicy.ofDefaults());

        awaitArrived(4);
        assertThat(arrived()).containsExactly("B:x0", "B:y2", "A:k1", "A:k3");
    }

    @Test
    void topicThatIsPaused_holdsItsOwnEventsBackAlone() {
        append("A:k0", "B:k1", "A:k2");
        pausedAtStart("A");

        awaitArrived(1);
        relay().resume("A");
        awaitArrived(3);
        assertThat(arrived()).containsExactly("B:k1", "A:k0", "A:k2");
    }

    /** The breaker lets a probe through between two rows of a batch: it must not be the later one. */
    @ParameterizedTest
    @ValueSource(strings = {"BROKER", "TOPIC"})
    void breakerOpensAndHalfOpensInTheMiddleOfABatch_orderIsKept(Kind kind) {
        append("A:x0", "A:k1", "A:k2", "B:k3");
        AtomicInteger callsOfTheLoop = new AtomicInteger(-1);
        AtomicLong now = new AtomicLong();
        ticker = () -> {
            // After the failure the loop looks at the clock once for the breaker, then once per row.
            if (onLoop() && callsOfTheLoop.get() >= 0 && callsOfTheLoop.incrementAndGet() == 3) {
                now.addAndGet(Duration.ofSeconds(30).toNanos());
            }
            return now.get();
        };
        failures.put("A:x0", kind);
        whenPublished.put("A:x0", () -> callsOfTheLoop.set(0));
        failsOnce = true;

        start(RetryPolicy.ofDefaults());

        awaitArrived(4);
        assertThat(arrived()).containsSubsequence("A:k1", "A:k2");
    }

    /** Whether the leases are only looked at, or are lost and taken again: the batch was read under the ones before. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leasesInDoubtInTheMiddleOfABatch_orderIsKept(boolean lost) {
        append("A:x0", "A:k1", "A:k2");
        AtomicInteger callsOfTheLoop = new AtomicInteger(-1);
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch mayLook = new CountDownLatch(1);
        ticker = () -> {
            if (callsOfTheLoop.get() >= 0) {
                if (!onLoop()) {
                    awaitLatch(mayLook);
                } else if (callsOfTheLoop.incrementAndGet() == 2) {
                    // The first row has been passed over, the second has not been looked at.
                    mayLook.countDown();
                    await().atMost(DEADLINE).until(() -> leasesLookedAt.get() > looks.get());
                }
            }
            return 0;
        };
        whenPublished.put("A:x0", () -> {
            looks.set(leasesLookedAt.get());
            callsOfTheLoop.set(0);
            if (lost) {
                store.withdraw(NAME);
            }
            Objects.requireNonNull(source).fenced();
        });

        start(RetryPolicy.ofDefaults());

        awaitArrived(3);
        assertThat(arrived()).containsSubsequence("A:k1", "A:k2");
    }

    /** The writers of a key follow one another, but nothing says that another key's row is not the one in the way. */
    @Test
    void rowWithALowerNumberAppears_theBlockedOnesGoOnWaiting() throws InterruptedException {
        CountDownLatch appended = new CountDownLatch(1);
        CountDownLatch mayCommit = new CountDownLatch(1);
        Thread late = new Thread(() -> database.run(TransactionLimits.ofDefaults(), transaction -> {
            Outbox.of(store)
                    .append(
                            transaction,
                            OutboxEvent.to("A").key("k").payload("A:k0").build());
            appended.countDown();
            awaitLatch(mayCommit);
            return true;
        }));
        late.start();
        awaitLatch(appended);
        append("A:k1", "A:k2", "A:x3");
        failures.put("A:k1", Kind.RECORD);
        start(new RetryPolicy(5, Duration.ofHours(1), Duration.ofHours(1)));
        await().atMost(DEADLINE).until(() -> relay().statistics().recordFailures() == 1);
        awaitArrived(1);

        mayCommit.countDown();
        late.join(DEADLINE.toMillis());
        awaitArrived(2);
        append("A:y4");
        awaitArrived(3);
        assertThat(arrived()).containsExactly("A:x3", "A:k0", "A:y4");

        failures.clear();
        database.passTime(Duration.ofHours(2));
        awaitArrived(5);
        assertThat(arrived()).containsSubsequence("A:k1", "A:k2");
    }

    /** Behind an open transaction the cursor begins at the same row each time; a page must reach past those that wait. */
    @Test
    void manyRowsOfABlockedKey_starveNobody() throws InterruptedException {
        batchSize = 3;
        CountDownLatch appended = new CountDownLatch(1);
        CountDownLatch mayCommit = new CountDownLatch(1);
        Thread open = new Thread(() -> database.run(TransactionLimits.ofDefaults(), transaction -> {
            Outbox.of(store)
                    .append(transaction, OutboxEvent.to("A").payload("A:o0").build());
            appended.countDown();
            awaitLatch(mayCommit);
            return true;
        }));
        open.start();
        awaitLatch(appended);
        for (int i = 0; i < 20; i++) {
            append("A:k" + i);
        }
        append("A:x9");
        failures.put("A:k0", Kind.RECORD);

        start(new RetryPolicy(5, Duration.ofHours(1), Duration.ofHours(1)));

        try {
            awaitArrived(1);
            assertThat(arrived()).containsExactly("A:x9");
        } finally {
            mayCommit.countDown();
            open.join(DEADLINE.toMillis());
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        await().atMost(DEADLINE).until(() -> latch.getCount() == 0);
    }
}
