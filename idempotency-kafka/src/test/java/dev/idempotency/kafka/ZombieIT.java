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

/** A process is stopped by SIGSTOP in the middle of a record, loses its partition, and comes back by SIGCONT. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ZombieIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    /** Without marks the successor waits for nobody, so it is the fence alone that holds the zombie back. */
    @ParameterizedTest
    @CsvSource({
        "event.effect-done, OFFSET, classic",
        "event.marked, OFFSET, consumer",
        "event.begun, EVENT_ID_AND_OFFSET, classic"
    })
    void stoppedBeyondItsOwnershipAndResumed_eachRecordTakesEffectOnce(
            String step, Deduplication deduplication, String protocol) {
        try (Bench bench = new Bench(kafka, 1)) {
            List<String> produced = produce(bench, 8);
            try (ChildJvm zombie = child(bench, deduplication, protocol)
                    .crashAt(CrashPoint.holdAt(step))
                    .start()) {
                zombie.awaitHeld(PATIENCE);
                zombie.stop();
                try (ChildJvm successor = child(bench, deduplication, protocol).start()) {
                    Bench.await("the successor's effects", () -> bench.effects().size() >= produced.size());
                    assertThat(bench.effects()).isEqualTo(produced);

                    zombie.resume();
                    zombie.release();
                    assertThat(bench.number("SELECT max(epoch) FROM partition_offset"))
                            .as("the partition has changed hands")
                            .isGreaterThan(1);
                    produced.addAll(produce(bench, 4));
                    successor.kill();
                    Bench.await(
                            "the effects of who came back",
                            () -> bench.effects().size() >= produced.size());
                }
                assertThat(zombie.isAlive())
                        .as("the zombie goes on as a member")
                        .isTrue();
                assertThat(bench.effects()).isEqualTo(produced);
            }
        }
    }

    private static ChildJvm.Builder child(Bench bench, Deduplication deduplication, String protocol) {
        return ChildJvm.of(ConsumerMain.class)
                .arguments(
                        bench.database.url(),
                        kafka.bootstrapServers(),
                        bench.topic,
                        TransactionScope.PER_BATCH,
                        deduplication,
                        "group.protocol=" + protocol);
    }

    private static List<String> produce(Bench bench, int count) {
        List<String> ids = new ArrayList<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = UUID.randomUUID().toString();
            ids.add(id);
            records.add(bench.record(0, id, "value " + i));
        }
        bench.sendAll(records);
        return ids;
    }
}
