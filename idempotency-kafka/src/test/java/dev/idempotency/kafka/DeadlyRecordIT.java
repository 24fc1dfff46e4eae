package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.testkit.process.ChildJvm;
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

/** A record that ends every process that handles it: nobody is left to count its failures. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class DeadlyRecordIT {
    private static final int DEADLY_OFFSET = 3;
    private static EmbeddedKafka kafka;

    @BeforeAll
    static void startBroker() {
        kafka = EmbeddedKafka.start();
    }

    @AfterAll
    static void stopBroker() {
        kafka.close();
    }

    /**
     * The first process that dies, or the first two if the partition was advanced before, is not expected to; then the
     * record is begun alone three times, each written down before.
     */
    @ParameterizedTest
    @CsvSource({"PER_BATCH, 4", "PER_EVENT, 5"})
    void recordEndsEachProcess_isParkedAfterThreeCountedStartsAndTheOthersTakeEffect(
            TransactionScope scope, int expectedDeaths) {
        try (Bench bench = new Bench(kafka, 1)) {
            bench.store.register(bench.consumerId);
            List<String> harmless = produce(bench);
            int deaths = 0;
            while (dies(bench, scope, harmless.size())) {
                deaths++;
                assertThat(deaths).as("processes that the record has ended").isLessThan(10);
            }

            assertThat(deaths).isEqualTo(expectedDeaths);
            assertThat(bench.effects()).isEqualTo(harmless);
            List<ParkedEvent> parked = bench.store.findParked(bench.consumerId, null, 10);
            assertThat(parked).singleElement().satisfies(event -> {
                assertThat(event.offset()).isEqualTo(DEADLY_OFFSET);
                assertThat(event.attempts()).isEqualTo(3);
                assertThat(event.reason()).contains("begun 3 times");
            });
        }
    }

    /** Runs one process until it has ended, or until all harmless records have taken effect. */
    private static boolean dies(Bench bench, TransactionScope scope, int effects) {
        try (ChildJvm child = ChildJvm.of(ConsumerMain.class)
                .arguments(
                        bench.database.url(),
                        kafka.bootstrapServers(),
                        bench.topic,
                        scope,
                        Deduplication.EVENT_ID_AND_OFFSET)
                .start()) {
            Bench.await(
                    "an end of the process or all effects",
                    () -> !child.isAlive() || bench.effects().size() >= effects);
            if (child.isAlive()) {
                return false;
            }
            assertThat(child.awaitExit(Duration.ofSeconds(10))).isEqualTo(ConsumerMain.DEATH);
            return true;
        }
    }

    private static List<String> produce(Bench bench) {
        List<String> harmless = new ArrayList<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            String id = UUID.randomUUID().toString();
            if (i != DEADLY_OFFSET) {
                harmless.add(id);
            }
            records.add(bench.record(0, id, i == DEADLY_OFFSET ? ConsumerMain.DEADLY : "value " + i));
        }
        bench.sendAll(records);
        return harmless;
    }
}
