package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A part of a topic is read again, and its marks are honoured. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RangeReplayIT {
    private static EmbeddedKafka kafka;
    private final Set<String> bad = ConcurrentHashMap.newKeySet();
    private Bench bench;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    @BeforeEach
    void prepare() {
        bench = new Bench(kafka, 2);
    }

    @AfterEach
    void tidy() {
        bench.close();
    }

    private IdempotentConsumer<String, String> consumer(Deduplication deduplication) {
        return bench.consumer()
                .deduplication(deduplication)
                .handler(TransactionScope.PER_BATCH, (record, context) -> {
                    if (bad.contains(context.eventId().value())) {
                        throw new IllegalArgumentException("cannot handle this");
                    }
                    Bench.effect(record, context);
                })
                .build();
    }

    /** Half of them in each partition, with even and odd numbers. */
    private List<String> produceAndConsume(IdempotentConsumer<String, String> consumer, int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add("event-" + i);
            bench.send(i % 2, "event-" + i, "value");
        }
        consumer.start();
        Bench.await("all effects", () -> bench.effects().size() >= count);
        return ids;
    }

    @Test
    void replay_whileTheConsumerRuns_handlesNothingThatIsMarked() {
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.EVENT_ID_AND_OFFSET)) {
            List<String> produced = produceAndConsume(consumer, 40);

            TopicReplay replay = consumer.replay(TopicRange.all(bench.topic));

            assertThat(replay.handled()).isZero();
            assertThat(replay.duplicates()).isEqualTo(40);
            assertThat(replay.stopped()).isEmpty();
            assertThat(bench.effects()).containsExactlyInAnyOrderElementsOf(produced);
        }
    }

    @Test
    void replay_someMarksAreGone_handlesThese_andNoOffsetMoves() {
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.EVENT_ID_AND_OFFSET)) {
            produceAndConsume(consumer, 40);
            bench.update(
                    "DELETE FROM processed_event WHERE event_id IN (SELECT event_id FROM processed_event LIMIT 7)");
            List<String> offsets = bench.strings("SELECT next_offset FROM partition_offset ORDER BY partition_number");
            List<String> epochs = bench.strings("SELECT epoch FROM partition_offset ORDER BY partition_number");

            TopicReplay replay = consumer.replay(TopicRange.all(bench.topic));

            assertThat(replay.handled()).isEqualTo(7);
            assertThat(replay.duplicates()).isEqualTo(33);
            assertThat(bench.strings("SELECT next_offset FROM partition_offset ORDER BY partition_number"))
                    .isEqualTo(offsets);
            assertThat(bench.strings("SELECT epoch FROM partition_offset ORDER BY partition_number"))
                    .as("taken from nobody")
                    .isEqualTo(epochs);
        }
        assertThat(bench.effects()).hasSize(47);
    }

    @Test
    void replay_ofOffsetsAndOfTimes_readsNoMore() {
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.EVENT_ID_AND_OFFSET)) {
            produceAndConsume(consumer, 20);
            Instant between = Instant.now().plusSeconds(60);

            assertThat(consumer.replay(TopicRange.offsets(bench.topic, 1, 3, 8)).duplicates())
                    .isEqualTo(5);
            assertThat(consumer.replay(TopicRange.between(bench.topic, Instant.EPOCH, between))
                            .duplicates())
                    .isEqualTo(20);
            assertThat(consumer.replay(TopicRange.between(bench.topic, between, between.plusSeconds(60)))
                            .duplicates())
                    .isZero();
        }
    }

    @Test
    void replay_recordFails_endsThatPartitionAndSaysWhere_andTheNextCallGoesOn() {
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.EVENT_ID_AND_OFFSET)) {
            produceAndConsume(consumer, 20);
            bench.update("DELETE FROM processed_event");
            bench.update("DELETE FROM effect");
            bad.add("event-6");

            TopicReplay replay = consumer.replay(TopicRange.all(bench.topic));

            assertThat(replay.stopped()).containsOnlyKeys(new TopicPartition(bench.topic, 0));
            assertThat(replay.stopped().values()).singleElement().satisfies(stop -> {
                assertThat(stop.offset()).isEqualTo(3);
                assertThat(stop.cause()).hasMessage("cannot handle this");
            });
            assertThat(replay.handled())
                    .as("3 before it, and the other partition")
                    .isEqualTo(13);

            bad.clear();
            TopicReplay again = consumer.replay(TopicRange.all(bench.topic));
            assertThat(again.handled()).isEqualTo(7);
            assertThat(again.duplicates()).isEqualTo(13);
        }
        assertThat(bench.effects()).doesNotHaveDuplicates().hasSize(20);
    }

    @Test
    void replay_withoutMarks_isRefused() {
        bench.send(0, "event", "value");
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.OFFSET)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> consumer.replay(TopicRange.all(bench.topic)))
                    .withMessageContaining("EVENT_ID");
        }
        assertThat(bench.effects()).isEmpty();
    }

    @Test
    void range_thatEndsBeforeItBegins_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> TopicRange.offsets("orders", 0, 5, 5));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TopicRange.between("orders", Instant.EPOCH, Instant.EPOCH));
    }
}
