package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The consumer with the oldest client that is supported, in processes that have no other, against the newest broker. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class OldestClientIT {
    private static final Path OLDEST =
            Path.of("target", "oldest", "kafka-clients.jar").toAbsolutePath();

    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).getFileName().toString().startsWith("kafka-clients-")
                        ? OLDEST.toString()
                        : entry)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static ChildJvm child(Runs run, EmbeddedKafka kafka) {
        return ChildJvm.of(ConsumerMain.class)
                .classPath(classPath())
                .arguments(
                        run.bench.database.url(),
                        kafka.bootstrapServers(),
                        run.bench.topic,
                        TransactionScope.PER_BATCH,
                        Deduplication.EVENT_ID_AND_OFFSET,
                        "max.poll.records=100",
                        "metadata.max.age.ms=300")
                .start();
    }

    @Test
    void run_withRebalancesAndKills_eachEventTakesEffectOnce() throws Exception {
        assertThat(Files.exists(OLDEST))
                .as("%s, which the build copies", OLDEST)
                .isTrue();
        assertThat(classPath()).contains(OLDEST.toString());
        try (EmbeddedKafka kafka = EmbeddedKafka.start();
                Runs run = new Runs(kafka, "the oldest client", 0.05, 0)) {
            ChildJvm[] children = {child(run, kafka), child(run, kafka)};
            run.send(2, Duration.ofSeconds(2), round -> {
                children[round % 2].kill();
                children[round % 2] = child(run, kafka);
            });
            run.awaitAll();
            Arrays.stream(children).forEach(ChildJvm::kill);
            run.judge();
        }
    }
}
