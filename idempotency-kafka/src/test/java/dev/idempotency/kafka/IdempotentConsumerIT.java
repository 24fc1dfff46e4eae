package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class IdempotentConsumerIT {
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
        bench = new Bench(kafka, 3);
    }

    @AfterEach
    void tidy() {
        bench.close();
    }

    @ParameterizedTest
    @CsvSource({"PER_BATCH, classic", "PER_BATCH, consumer", "PER_EVENT, classic"})
    void run_duplicatesAmongRecords_eachEventTakesEffectOnceAndInOrder(TransactionScope scope, String protocol) {
        List<String> produced = produce(200, 5);
        try (IdempotentConsumer<String, String> consumer = bench.consumer(Map.of("group.protocol", protocol))
                .handler(scope, Bench::effect)
                .build()) {
            consumer.start();
            Bench.await("all effects", () -> bench.effects().size() >= produced.size());

            StopReport report = consumer.stop(Duration.ofSeconds(30));

            assertThat(report.drained()).isTrue();
            assertThat(consumer.failure()).isEmpty();
        }
        assertThat(bench.effects()).containsExactlyInAnyOrderElementsOf(produced);
        assertThat(bench.number("SELECT count(*) FROM (SELECT record_offset, lag(record_offset) OVER (PARTITION BY"
                        + " topic_partition ORDER BY seq) AS before FROM effect) e WHERE before > record_offset"))
                .isZero();
        for (int partition = 0; partition < 3; partition++) {
            assertThat(bench.committed(partition))
                    .isEqualTo(bench.number(
                            "SELECT next_offset FROM partition_offset WHERE partition_number = " + partition));
        }
    }

    /** Every n-th record is sent a second time, to another partition. */
    private List<String> produce(int count, int everyNth) {
        List<String> ids = new ArrayList<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = i % 2 == 0 ? UUID.randomUUID().toString() : "event-" + i;
            ids.add(id);
            records.add(bench.record(i % 3, id, "value " + i));
            if (i % everyNth == 0) {
                records.add(bench.record((i + 1) % 3, id, "value " + i));
            }
        }
        bench.sendAll(records);
        return ids;
    }
}
