package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.event.MarkCleanUp;
import dev.idempotency.event.RedeliveryHorizon;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MarkCleanUpTest {
    private static final ConsumerId CONSUMER = ConsumerId.of("billing");
    private static final Duration AGE = Duration.ofHours(2);

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryEventStore store = InMemoryEventStore.of(database);

    @BeforeEach
    void register() {
        store.register(CONSUMER);
    }

    private void mark(String... ids) {
        List<EventId> events = List.of(ids).stream().map(EventId::of).toList();
        database.run(TransactionLimits.ofDefaults(), transaction -> store.mark(transaction, CONSUMER, events));
    }

    private MarkCleanUp.Builder cleanUp() {
        return MarkCleanUp.builder().store(store).age(AGE);
    }

    @Test
    void runOnce_deletesWhatIsOldAndNothingElse() {
        mark("old");
        database.passTime(Duration.ofHours(3));
        mark("young");

        assertThat(cleanUp().build().runOnce()).isEqualTo(1);
        assertThat(store.marks).hasSize(1);
    }

    @Test
    void runOnce_eventsCanComeAgainForLonger_deletesNothingYoungerThanThat() {
        mark("older");
        database.passTime(Duration.ofHours(6));
        mark("old");
        database.passTime(Duration.ofHours(5));
        MarkCleanUp cleanUp = cleanUp()
                .horizon(() -> Optional.of(Duration.ofHours(1)))
                .horizon(() -> Optional.of(Duration.ofHours(10)))
                .build();

        assertThat(cleanUp.runOnce()).isEqualTo(1);
        assertThat(store.marks).hasSize(1);
    }

    @Test
    void runOnce_eventsAreKeptForEver_deletesNothing() {
        mark("old");
        database.passTime(Duration.ofDays(3_000));

        assertThat(cleanUp().horizon(Optional::empty).build().runOnce()).isZero();
        assertThat(store.marks).hasSize(1);
    }

    @Test
    void runOnce_horizonCannotTell_deletesNothing() {
        mark("old");
        database.passTime(Duration.ofDays(3_000));
        RedeliveryHorizon unknown = () -> {
            throw new IllegalStateException("no broker answers");
        };

        assertThatIllegalStateException()
                .isThrownBy(() -> cleanUp().horizon(unknown).build().runOnce())
                .withMessage("no broker answers");
        assertThat(store.marks).hasSize(1);
    }

    @Test
    void runOnce_horizonIsAskedEachTime() {
        mark("old");
        database.passTime(Duration.ofHours(5));
        AtomicInteger hours = new AtomicInteger(10);
        MarkCleanUp cleanUp = cleanUp()
                .horizon(() -> Optional.of(Duration.ofHours(hours.get())))
                .build();
        assertThat(cleanUp.runOnce()).isZero();

        hours.set(1);
        assertThat(cleanUp.runOnce()).isEqualTo(1);
    }

    @Test
    void runOnce_severalBatches_noneIsLargerThanAllowed() {
        AtomicInteger largest = new AtomicInteger();
        InMemoryEventStore watched = new InMemoryEventStore(database) {
            @Override
            public int deleteMarks(Duration age, int limit) {
                int deleted = super.deleteMarks(age, limit);
                largest.accumulateAndGet(deleted, Math::max);
                return deleted;
            }
        };
        watched.register(CONSUMER);
        List<EventId> many =
                IntStream.range(0, 250).mapToObj(i -> EventId.of("event-" + i)).toList();
        database.run(TransactionLimits.ofDefaults(), transaction -> watched.mark(transaction, CONSUMER, many));
        database.passTime(Duration.ofHours(3));

        assertThat(cleanUp().store(watched).batch(100).build().runOnce()).isEqualTo(250);
        assertThat(largest).hasValue(100);
    }

    @Test
    void runOnce_withPartitions_looksAfterThemWithTheSafeAge() {
        AtomicReference<Duration> maintained = new AtomicReference<>(Duration.ZERO);

        cleanUp()
                .horizon(() -> Optional.of(Duration.ofHours(10)))
                .partitions(age -> {
                    maintained.set(age);
                    return 1;
                })
                .build()
                .runOnce();

        assertThat(maintained).hasValue(Duration.ofHours(10));
    }

    @Test
    void start_storeFailsOnce_goesOnUntilItIsClosed() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        InMemoryEventStore failing = new InMemoryEventStore(database) {
            @Override
            public int deleteMarks(Duration age, int limit) {
                third.countDown();
                if (runs.incrementAndGet() == 1) {
                    throw new StoreUnavailableException("asked for by the test", null);
                }
                return super.deleteMarks(age, limit);
            }
        };
        MarkCleanUp cleanUp =
                cleanUp().store(failing).interval(Duration.ofMillis(1)).build();
        cleanUp.start();
        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();

        cleanUp.close();
        cleanUp.close();

        int runsAtTheEnd = runs.get();
        assertThat(cleanUp.runOnce()).as("after the end").isZero();
        assertThat(runs).hasValue(runsAtTheEnd);
    }

    @Test
    void start_withAShutdown_endsWithIt() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        MarkCleanUp cleanUp = cleanUp().interval(Duration.ofMillis(1)).build();
        cleanUp.start(shutdown);

        shutdown.shutdown(new Reason("the test ends")).toCompletableFuture().get(60, TimeUnit.SECONDS);

        mark("old");
        database.passTime(Duration.ofHours(3));
        assertThat(cleanUp.runOnce()).as("after the end").isZero();
    }

    @Test
    void build_badOptions_areRefusedByName() {
        assertThatIllegalStateException()
                .isThrownBy(() -> MarkCleanUp.builder().age(AGE).build())
                .withMessageContaining("store");
        assertThatIllegalStateException()
                .isThrownBy(() -> MarkCleanUp.builder().store(store).build())
                .withMessageContaining("age");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cleanUp().age(Duration.ofSeconds(59)).build())
                .withMessageContaining("age");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cleanUp().interval(Duration.ofDays(2)).build())
                .withMessageContaining("interval");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cleanUp().batch(0).build())
                .withMessageContaining("batch");
    }
}
