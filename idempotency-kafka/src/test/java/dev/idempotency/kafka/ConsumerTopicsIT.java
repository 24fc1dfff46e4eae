package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to topics and offsets from outside: new topics, new partitions, topics made anew, offsets set by hand. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ConsumerTopicsIT {
    private static final Map<String, String> SOON = Map.of("metadata.max.age.ms", "300");
    private static EmbeddedKafka kafka;
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
        bench = new Bench(kafka, 1);
    }

    @AfterEach
    void tidy() {
        bench.close();
    }

    private IdempotentConsumerBuilder<String, String> consumer(Deduplication deduplication) {
        return bench.consumer(SOON)
                .deduplication(deduplication)
                .missingEventId(MissingEventId.POSITION)
                .betweenLooksAtTopics(Duration.ofMillis(200))
                .handler(TransactionScope.PER_BATCH, Bench::effect);
    }

    private void consumeUntil(int effects, Deduplication deduplication) {
        try (IdempotentConsumer<String, String> consumer =
                consumer(deduplication).build()) {
            consumer.start();
            Bench.await(effects + " effects", () -> bench.effects().size() >= effects);
            assertThat(consumer.stop(Duration.ofSeconds(30)).drained()).isTrue();
        }
    }

    private List<String> send(int from, int to) {
        List<String> ids = new ArrayList<>();
        for (int i = from; i < to; i++) {
            ids.add("event-" + i);
            bench.send(0, "event-" + i, "value");
        }
        return ids;
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private void setOffset(long offset) throws Exception {
        get(kafka.admin()
                .alterConsumerGroupOffsets(
                        bench.topic, Map.of(new TopicPartition(bench.topic, 0), new OffsetAndMetadata(offset)))
                .all());
    }

    private Optional<OffsetAndMetadata> committed() {
        try {
            return Optional.ofNullable(
                    get(kafka.admin().listConsumerGroupOffsets(bench.topic).partitionsToOffsetAndMetadata())
                            .get(new TopicPartition(bench.topic, 0)));
        } catch (Exception e) {
            throw new IllegalStateException("The test could not read the group's offset", e);
        }
    }

    // ---- topics by their names' form

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void pattern_topicThatIsCreatedLater_isConsumedToo(String protocol) {
        String later = bench.topic + "-later";
        bench.send(0, "first", "value");
        try (IdempotentConsumer<String, String> consumer = bench.consumer(
                        Map.of("metadata.max.age.ms", "300", "group.protocol", protocol))
                .topicPattern(Pattern.compile(Pattern.quote(bench.topic) + ".*"))
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build()) {
            consumer.start();
            Bench.await("the first effect", () -> bench.effects().contains("first"));

            kafka.createTopic(later, 1);
            bench.send(bench.recordTo(later, "second"));
            Bench.await(
                    "the effect of the new topic's record",
                    () -> bench.effects().contains("second"));
        }
        assertThat(bench.effects()).containsExactly("first", "second");
    }

    @Test
    void pattern_thatMatchesTheDeadLetters_isRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> bench.consumer()
                        .topicPattern(Pattern.compile("orders.*"))
                        .deadLetters(DeadLetters.to("orders.dead", JdbiOutboxStore.of(bench.pool)))
                        .handler(TransactionScope.PER_BATCH, Bench::effect)
                        .build())
                .withMessageContaining("orders.dead");
    }

    @Test
    void redeliveryHorizon_isTheLongestOfTheTopicsWithTheirSegments() {
        kafka.createTopic(bench.topic + "-short", 1, Map.of("retention.ms", "60000", "segment.ms", "1000"));
        kafka.createTopic(bench.topic + "-long", 1, Map.of("retention.ms", "3600000", "segment.ms", "2000"));
        IdempotentConsumer<String, String> bounded = bench.consumer()
                .topicPattern(Pattern.compile(Pattern.quote(bench.topic) + "-.*"))
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build();
        assertThat(bounded.redeliveryHorizon()).contains(Duration.ofSeconds(3602));

        kafka.createTopic(bench.topic + "-compacted", 1, Map.of("cleanup.policy", "compact"));
        assertThat(bounded.redeliveryHorizon()).isEmpty();
    }

    // ---- partitions that are added

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void addedPartition_isConsumedFromItsBeginning(String protocol) throws Exception {
        bench.send(0, "first", "value");
        try (IdempotentConsumer<String, String> consumer = bench.consumer(
                        Map.of("metadata.max.age.ms", "300", "group.protocol", protocol))
                .handler(TransactionScope.PER_BATCH, Bench::effect)
                .build()) {
            consumer.start();
            Bench.await("the first effect", () -> bench.effects().contains("first"));

            get(kafka.admin()
                    .createPartitions(Map.of(bench.topic, NewPartitions.increaseTo(3)))
                    .all());
            bench.send(2, "second", "value");
            bench.send(1, "third", "value");
            Bench.await("all effects", () -> bench.effects().size() >= 3);
        }
        assertThat(bench.effects()).containsExactlyInAnyOrder("first", "second", "third");
        assertThat(bench.number("SELECT count(*) FROM partition_offset")).isEqualTo(3);
    }

    // ---- a topic that is deleted and created again

    private void recreate() throws Exception {
        get(kafka.admin().deleteTopics(Set.of(bench.topic)).all());
        Bench.await("the topic to be gone", () -> {
            try {
                return !get(kafka.admin().listTopics().names()).contains(bench.topic);
            } catch (Exception e) {
                throw new IllegalStateException("The test could not list the topics", e);
            }
        });
        kafka.createTopic(bench.topic, 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Deduplication.class,
            names = {"OFFSET", "EVENT_ID_AND_OFFSET"})
    void recreatedTopic_whileNoConsumerRuns_isConsumedFromItsBeginning(Deduplication deduplication) throws Exception {
        List<String> produced = send(0, 5);
        consumeUntil(5, deduplication);

        recreate();
        produced.addAll(send(5, 8));
        consumeUntil(8, deduplication);

        assertThat(bench.effects()).isEqualTo(produced);
    }

    /** The group's offset survives where a broker does not clean up in time. */
    @ParameterizedTest
    @EnumSource(Deduplication.class)
    void recreatedTopic_offsetOfTheOldOneIsStillCommitted_isConsumedFromItsBeginning(Deduplication deduplication)
            throws Exception {
        List<String> produced = send(0, 2);
        consumeUntil(2, deduplication);
        OffsetAndMetadata old = committed().orElseThrow();

        recreate();
        produced.addAll(send(2, 7));
        get(kafka.admin()
                .alterConsumerGroupOffsets(bench.topic, Map.of(new TopicPartition(bench.topic, 0), old))
                .all());
        consumeUntil(7, deduplication);

        assertThat(bench.effects()).isEqualTo(produced);
    }

    @ParameterizedTest
    @EnumSource(
            value = Deduplication.class,
            names = {"OFFSET", "EVENT_ID_AND_OFFSET"})
    void recreatedTopic_whileTheConsumerRuns_isConsumedFromItsBeginning(Deduplication deduplication) throws Exception {
        List<String> produced = send(0, 5);
        try (IdempotentConsumer<String, String> consumer =
                consumer(deduplication).build()) {
            consumer.start();
            Bench.await("the effects", () -> bench.effects().size() >= 5);

            recreate();
            produced.addAll(send(5, 8));
            Bench.await("the effects of the new topic", () -> bench.effects().size() >= 8);
        }
        assertThat(bench.effects()).isEqualTo(produced);
    }

    // ---- offsets that an operator sets

    @Test
    void offsetSetBack_withMarks_isHonouredAndNothingRunsTwice() throws Exception {
        List<String> produced = send(0, 6);
        consumeUntil(6, Deduplication.EVENT_ID_AND_OFFSET);
        bench.update("DELETE FROM processed_event WHERE event_id IN (SELECT event_id FROM processed_event LIMIT 2)");
        setOffset(0);

        produced.addAll(send(6, 8));
        consumeUntil(10, Deduplication.EVENT_ID_AND_OFFSET);

        assertThat(bench.effects().subList(0, 6)).isEqualTo(produced.subList(0, 6));
        assertThat(bench.effects())
                .as("the two whose marks were gone, and the new ones")
                .hasSize(10);
        assertThat(bench.effects().subList(8, 10)).isEqualTo(produced.subList(6, 8));
    }

    @Test
    void offsetSetBack_withoutMarks_runsThemAgainAsAskedFor() throws Exception {
        List<String> produced = send(0, 4);
        consumeUntil(4, Deduplication.OFFSET);
        setOffset(1);
        consumeUntil(7, Deduplication.OFFSET);
        consumeUntil(7, Deduplication.OFFSET);

        List<String> expected = new ArrayList<>(produced);
        expected.addAll(produced.subList(1, 4));
        assertThat(bench.effects()).isEqualTo(expected);
    }

    @Test
    void offsetSetForward_isHonoured() throws Exception {
        send(0, 2);
        consumeUntil(2, Deduplication.EVENT_ID_AND_OFFSET);
        send(2, 6);
        setOffset(4);
        consumeUntil(4, Deduplication.EVENT_ID_AND_OFFSET);

        assertThat(bench.effects()).containsExactly("event-0", "event-1", "event-4", "event-5");
    }

    /** Otherwise what is processed after the reset, and not yet committed to Kafka, would be reset once more. */
    @Test
    void offsetSetBack_isOursBeforeAnythingIsProcessedFromIt() throws Exception {
        send(0, 3);
        consumeUntil(3, Deduplication.OFFSET);
        setOffset(1);
        Gate gate = new Gate();
        try (IdempotentConsumer<String, String> consumer = consumer(Deduplication.OFFSET)
                .handler(TransactionScope.PER_BATCH, (record, context) -> {
                    gate.pass();
                    Bench.effect(record, context);
                })
                .build()) {
            consumer.start();
            gate.awaitReached(Bench.PATIENCE);

            OffsetAndMetadata committed = committed().orElseThrow();
            assertThat(committed.offset()).isEqualTo(1);
            assertThat(committed.metadata()).startsWith("idem:");
            gate.open();
            Bench.await("the effects", () -> bench.effects().size() >= 5);
        }
        assertThat(bench.effects()).containsExactly("event-0", "event-1", "event-2", "event-1", "event-2");
    }

    /** A plain consumer of the same group came before: its offset is where to begin, and no reset. */
    @Test
    void groupOfAPlainConsumer_isTakenOverWhereItStands() throws Exception {
        send(0, 5);
        setOffset(3);
        consumeUntil(2, Deduplication.EVENT_ID_AND_OFFSET);
        assertThat(committed().orElseThrow().metadata()).startsWith("idem:");
        consumeUntil(2, Deduplication.EVENT_ID_AND_OFFSET);

        assertThat(bench.effects()).containsExactly("event-3", "event-4");
    }
}
