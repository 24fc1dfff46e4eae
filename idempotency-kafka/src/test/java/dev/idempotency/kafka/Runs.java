package dev.idempotency.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.service.EmbeddedKafka;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run: records that are sent part by part, with some trouble between the parts, and the oracle that reads in the database
 * what has come of them. What is sent follows from the seed alone.
 */
final class Runs implements AutoCloseable {
    static final int PARTITIONS = 4;

    private static final Logger log = LoggerFactory.getLogger(Runs.class);
    private static final boolean FULL =
            System.getProperty("idempotency.profile", "ci").equals("full");
    private static final int KEYS = 24 * PARTITIONS;

    final Bench bench;
    private final String name;
    private final Random random;
    private final int records = FULL ? 100_000 : 2_000;
    private final long startedNanos = System.nanoTime();
    private final Set<String> ids = new HashSet<>();
    private final Set<String> poison = new HashSet<>();
    private final double duplicates;
    private final int poisonEvery;
    private int sent;
    private int duplicatesSent;

    /** What happens between two parts. */
    interface Trouble {
        void happen(int round) throws Exception;
    }

    Runs(EmbeddedKafka kafka, String name, double duplicates, int poisonEvery) {
        long seed = Long.getLong("idempotency.seed", System.nanoTime());
        this.name = name;
        this.random = new Random(seed);
        this.duplicates = duplicates;
        this.poisonEvery = poisonEvery;
        this.bench = new Bench(kafka, PARTITIONS);
        log.info("The run {} of {} records has -Didempotency.seed={}", name, records, seed);
    }

    static boolean isFull() {
        return FULL;
    }

    /**
     * Sends all records in as many parts, and makes the trouble after each of them: in the short form when a third of the part has
     * taken effect, in the full one when so much time has passed.
     */
    void send(int shortRounds, Duration every, Trouble trouble) throws Exception {
        int rounds = FULL ? Math.max(shortRounds, 20) : shortRounds;
        for (int round = 0; round < rounds; round++) {
            long before = sent;
            sendPart(records / rounds);
            if (FULL) {
                LockSupport.parkNanos(every.toNanos());
            } else {
                long enough = before + (sent - before) / 3;
                await("a third of part " + round, () -> processed() >= enough);
            }
            trouble.happen(round);
        }
    }

    private void sendPart(int count) {
        List<ProducerRecord<byte[], byte[]>> part = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = sent++;
            String id = new UUID(random.nextLong(), random.nextLong()).toString();
            boolean bad = poisonEvery > 0 && number % poisonEvery == poisonEvery / 2;
            ids.add(id);
            if (bad) {
                poison.add(id);
            }
            part.add(record(number, id, bad));
            if (!bad && random.nextDouble() < duplicates) {
                // Some stand behind one another, some much later, some in another partition.
                part.add(part.size() - random.nextInt(Math.min(3, part.size())), record(number, id, false));
                part.add(record(number + random.nextInt(PARTITIONS), id, false));
                duplicatesSent += 2;
            }
        }
        bench.sendAll(part);
    }

    private ProducerRecord<byte[], byte[]> record(int number, String id, boolean bad) {
        int key = number % KEYS;
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                bench.topic, key % PARTITIONS, ("key-" + key).getBytes(UTF_8), (bad ? "bad" : "good").getBytes(UTF_8));
        record.headers().add("eventId", id.getBytes(UTF_8));
        return record;
    }

    long effects() {
        return number("SELECT count(*) FROM effect");
    }

    private long processed() {
        return effects() + number("SELECT count(*) FROM parked_event");
    }

    /** All that was sent is processed as far as the database knows. */
    void awaitAll() {
        await(
                "all of " + (sent + duplicatesSent) + " records",
                () -> number("SELECT coalesce(sum(next_offset), 0) FROM partition_offset") >= sent + duplicatesSent);
    }

    /** Exactly one effect for each id, or a parked row; in order; and Kafka never ahead of the database. */
    void judge() {
        Set<String> effects = new HashSet<>(strings("SELECT event_id FROM effect"));
        Set<String> parked = new HashSet<>(strings("SELECT event_id FROM parked_event"));
        assertThat(effects()).as("effects of %s, each once", name).isEqualTo(effects.size());
        assertThat(parked).as("parked records of %s", name).isEqualTo(poison);
        effects.addAll(parked);
        assertThat(effects.equals(ids))
                .as("what took effect or was parked in %s is what was sent", name)
                .isTrue();
        assertThat(number("SELECT count(*) FROM processed_event"))
                .as("marks of %s", name)
                .isEqualTo(ids.size() - parked.size());
        assertThat(number("""
                        SELECT count(*)
                        FROM (
                        SELECT record_offset,
                        lag(record_offset) OVER (PARTITION BY topic_partition ORDER BY seq) AS before
                        FROM effect
                        ) e
                        WHERE before >= record_offset
                        """)).as("effects of %s out of order", name).isZero();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            assertThat(bench.committed(partition))
                    .as("offset in Kafka of partition %s in %s", partition, name)
                    .isLessThanOrEqualTo(
                            number("SELECT next_offset FROM partition_offset WHERE partition_number = " + partition));
        }
        log.warn(
                "Run {}: {} records ({} duplicates, {} poison) in {} s",
                name,
                sent + duplicatesSent,
                duplicatesSent,
                poison.size(),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos));
    }

    long number(String query) {
        return Long.parseLong(strings(query).get(0));
    }

    /** On a connection of its own and again when it is lost: some runs end every session. */
    private List<String> strings(String query) {
        for (int tries = 1; ; tries++) {
            try (Connection connection = bench.database.dataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(query)) {
                List<String> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
                return found;
            } catch (SQLException e) {
                if (tries == 10) {
                    throw new IllegalStateException(query, e);
                }
            }
        }
    }

    private void await(String what, java.util.function.BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofMinutes(FULL ? 10 : 2).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline)
                    .as("time for %s in %s: %s effects so far", what, name, effects())
                    .isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(FULL ? 200 : 20));
        }
    }

    @Override
    public void close() {
        bench.close();
    }
}
