package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.process.CrashPoint;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A consumer dies between two steps, and its successor goes on: made to happen there, not by luck. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CrashIT {
    private static final int RECORDS = 12;
    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    @ParameterizedTest
    @CsvSource({
        // step, occurrence, transaction, deduplication, effects that are committed when the process is dead
        "event.begun, 1, PER_BATCH, EVENT_ID_AND_OFFSET, 0",
        "event.marked, 1, PER_BATCH, EVENT_ID_AND_OFFSET, 0",
        "event.effect-done, 3, PER_BATCH, EVENT_ID_AND_OFFSET, 0",
        "event.advanced, 1, PER_BATCH, EVENT_ID_AND_OFFSET, 0",
        "event.committing, 1, PER_BATCH, EVENT_ID_AND_OFFSET, 0",
        "event.committed, 1, PER_BATCH, EVENT_ID_AND_OFFSET, 5",
        "event.begun, 2, PER_BATCH, EVENT_ID_AND_OFFSET, 5",
        "event.committed, 1, PER_BATCH, EVENT_ID, 5",
        "event.committed, 1, PER_BATCH, OFFSET, 5",
        "event.effect-done, 3, PER_EVENT, EVENT_ID_AND_OFFSET, 2",
        "event.committed, 3, PER_EVENT, EVENT_ID_AND_OFFSET, 3",
    })
    void crash_atStep_eachEventTakesEffectOnceAndInOrder(
            String step, int occurrence, TransactionScope scope, Deduplication deduplication, int committed) {
        try (Bench bench = new Bench(kafka, 1)) {
            List<String> produced = produce(bench);
            try (ChildJvm child = child(bench, scope, deduplication)
                    .crashAt(CrashPoint.haltAt(step).occurrence(occurrence))
                    .start()) {
                child.awaitCrash(Duration.ofSeconds(90));
            }
            assertThat(bench.effects()).isEqualTo(produced.subList(0, committed));

            try (ChildJvm successor = child(bench, scope, deduplication).start()) {
                Bench.await("all effects", () -> bench.effects().size() >= RECORDS);
                successor.kill();
            }
            assertThat(bench.effects()).isEqualTo(produced);
        }
    }

    private static ChildJvm.Builder child(Bench bench, TransactionScope scope, Deduplication deduplication) {
        return ChildJvm.of(ConsumerMain.class)
                .arguments(bench.database.url(), kafka.bootstrapServers(), bench.topic, scope, deduplication);
    }

    private static List<String> produce(Bench bench) {
        List<String> ids = new ArrayList<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            String id = UUID.randomUUID().toString();
            ids.add(id);
            records.add(bench.record(0, id, "value " + i));
        }
        bench.sendAll(records);
        return ids;
    }
}
