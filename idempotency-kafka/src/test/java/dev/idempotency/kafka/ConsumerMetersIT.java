package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.RetryPolicy;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.testkit.service.EmbeddedKafka;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the meters say after a run with every kind of record. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ConsumerMetersIT {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double records(String outcome) {
        return registry.get("idempotency.consumer.records")
                .tags("consumer", "billing", "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void run_countsWhatBecameOfEachRecord_andTagsNoIdentity() {
        AtomicBoolean cured = new AtomicBoolean();
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                Bench bench = new Bench(kafka, 1);
                ConsumerMeters meters = ConsumerMeters.of(registry)) {
            bench.send(0, "a", "good");
            bench.send(0, "b", "good");
            bench.send(0, "a", "good");
            bench.send(0, "c", "bad");
            try (IdempotentConsumer<String, String> consumer = bench.consumer()
                    .retry(new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1)))
                    .listener(meters)
                    .handler(TransactionScope.PER_BATCH, (record, context) -> {
                        Bench.effect(record, context);
                        if (record.value().equals("bad") && !cured.get()) {
                            throw new IllegalArgumentException("cannot handle this");
                        }
                    })
                    .build()) {
                meters.watch(consumer);
                assertThat(registry.get("idempotency.consumer.running").gauge().value())
                        .isZero();
                assertThat(registry.get("idempotency.consumer.lag").gauge().value())
                        .as("not known")
                        .isNaN();
                consumer.start();
                Bench.await("the parked record", () -> bench.number("SELECT count(*) FROM parked_event") == 1);
                bench.send(0, "b", "good");
                Bench.await(
                        "the last record", () -> bench.number("SELECT max(next_offset) FROM partition_offset") == 5);
                Bench.await("an empty backlog", () -> consumer.lag().orElse(-1) == 0);

                assertThat(records("handled")).isEqualTo(2);
                assertThat(records("duplicate") + records("repeated")).isEqualTo(2);
                assertThat(records("failed")).isEqualTo(2);
                assertThat(records("parked")).isEqualTo(1);
                assertThat(registry.get("idempotency.consumer.running").gauge().value())
                        .isEqualTo(1);
                assertThat(registry.get("idempotency.consumer.lag").gauge().value())
                        .isZero();
                assertThat(registry.get("idempotency.consumer.batch.size")
                                .summary()
                                .totalAmount())
                        .isEqualTo(4);

                cured.set(true);
                ParkedEvent parked = consumer.findParked(1).get(0);
                consumer.replay(parked);
                assertThat(records("replayed")).isEqualTo(1);
                assertThat(consumer.waiting()).isEmpty();
            }
        }
        Set<String> tags = registry.getMeters().stream()
                .map(Meter::getId)
                .flatMap(id -> id.getTags().stream())
                .map(Tag::getKey)
                .collect(Collectors.toSet());
        assertThat(tags).containsExactlyInAnyOrder("consumer", "outcome");
        assertThat(registry.find("idempotency.consumer.lag").gauge())
                .as("gone with the meters")
                .isNull();
    }

    @Test
    void listenerThatThrows_changesNothing() {
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                Bench bench = new Bench(kafka, 1)) {
            bench.send(0, "a", "good");
            try (IdempotentConsumer<String, String> consumer = bench.consumer()
                    .listener(report -> {
                        throw new IllegalStateException("asked for by the test");
                    })
                    .handler(TransactionScope.PER_BATCH, Bench::effect)
                    .build()) {
                consumer.start();
                Bench.await("the effect", () -> bench.effects().contains("a"));
                assertThat(consumer.isRunning()).isTrue();
            }
        }
    }
}
