package dev.idempotency.benchmarks.kafka;

import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.BenchServer;
import dev.idempotency.benchmarks.harness.Contest;
import dev.idempotency.benchmarks.harness.Figure;
import dev.idempotency.benchmarks.harness.Form;
import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.harness.Target;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.common.utils.AppInfoParser;

/** The library's consumer against the loop that an application would write for itself, with and without marks. */
public final class KafkaSuite implements Suite {
    private static final Metric RECORDS = Metric.rate("records");
    private static final String MANY = "bench.many";
    private static final String FEW = "bench.few";
    private static final String KNOWN = "bench.known";
    private static final String REPLAY = "nothing but duplicates";

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public void run(Harness harness) throws Exception {
        try (BenchServer server = BenchServer.start(harness);
                EmbeddedKafka kafka = EmbeddedKafka.start();
                BenchDatabase database = server.createDatabase()) {
            harness.note(
                    "Kafka",
                    AppInfoParser.getVersion() + ", one broker in this virtual machine, " + Topics.PARTITIONS
                            + " partitions, payload of 200 bytes, one consumer");
            Map<String, Object> properties = Map.of("bootstrap.servers", kafka.bootstrapServers());
            Topics topics = new Topics(kafka);
            KafkaForms forms = new KafkaForms(properties, database);
            HandWrittenLoop byHand = new HandWrittenLoop(properties, database.pool());
            int many = harness.settings().size(100_000, 4_000);
            topics.create(MANY, Topics.PARTITIONS, many);
            rows(harness, forms, byHand, many);
            batches(harness, forms, byHand, many);
            singles(harness, forms, byHand, topics);
            idleStop(harness, forms);
            if (harness.wants(REPLAY)) {
                replay(harness, forms, byHand, topics, many);
            }
        }
    }

    private static void rows(Harness harness, KafkaForms forms, HandWrittenLoop byHand, int records) throws Exception {
        harness.run(new Contest(
                "row by row, a transaction per poll of 500",
                List.of(
                        form(
                                "by hand, no marks",
                                forms,
                                records,
                                () -> byHand.seconds(MANY, 500, records, HandWrittenLoop::rowByRow)),
                        form(
                                "library",
                                forms,
                                records,
                                () -> forms.rowByRow(MANY, 500, records, TransactionScope.PER_BATCH)),
                        form(
                                "by hand, a mark per record",
                                forms,
                                records,
                                () -> byHand.seconds(MANY, 500, records, HandWrittenLoop::markedRowByRow))),
                List.of(
                        Figure.against("library", "by hand, no marks", RECORDS).target(Target.ratioAtLeast(0.95)),
                        Figure.against("by hand, a mark per record", "by hand, no marks", RECORDS))));
    }

    private static void batches(Harness harness, KafkaForms forms, HandWrittenLoop byHand, int records)
            throws Exception {
        harness.run(new Contest(
                "batches, a transaction per poll of 2,000",
                List.of(
                        form(
                                "by hand, no marks",
                                forms,
                                records,
                                () -> byHand.seconds(MANY, 2_000, records, HandWrittenLoop::batch)),
                        form("library", forms, records, () -> forms.batch(MANY, 2_000, records))),
                List.of(Figure.against("library", "by hand, no marks", RECORDS).target(Target.ratioAtLeast(0.85)))));
    }

    private static void singles(Harness harness, KafkaForms forms, HandWrittenLoop byHand, Topics topics)
            throws Exception {
        int records = harness.settings().size(8_000, 500);
        topics.create(FEW, Topics.PARTITIONS, records);
        harness.run(new Contest(
                "a transaction per record",
                List.of(
                        form(
                                "by hand, with marks",
                                forms,
                                records,
                                () -> byHand.seconds(FEW, 500, records, HandWrittenLoop::markedOneByOne)),
                        form(
                                "library",
                                forms,
                                records,
                                () -> forms.rowByRow(FEW, 500, records, TransactionScope.PER_EVENT))),
                List.of(Figure.against("library", "by hand, with marks", RECORDS)
                        .target(Target.ratioAtLeast(0.95)))));
    }

    private static void idleStop(Harness harness, KafkaForms forms) throws Exception {
        Metric seconds = new Metric("time", "s");
        harness.run(new Contest(
                "stop with nothing in flight",
                List.of(new Form("library", () -> Sample.of(seconds, forms.idleStop(FEW)))),
                List.of(Figure.alone("library", seconds).target(Target.valueAtMost(1)))));
    }

    private static void replay(Harness harness, KafkaForms forms, HandWrittenLoop byHand, Topics topics, int records)
            throws Exception {
        List<UUID> known = topics.create(KNOWN, 1, records);
        forms.clear();
        forms.markAll(known);
        harness.run(new Contest(
                REPLAY,
                List.of(
                        // All records count: they are read and looked up, though only the last has an effect.
                        new Form(
                                "by hand, a mark per record",
                                () -> Sample.of(
                                        RECORDS,
                                        records
                                                / byHand.seconds(
                                                        KNOWN, 500, records, HandWrittenLoop::markedRowByRow))),
                        new Form("library", () -> {
                            topics.send(KNOWN, 1, 1);
                            return Sample.of(RECORDS, records / forms.replay(KNOWN, 500));
                        })),
                List.of(Figure.against("library", "by hand, a mark per record", RECORDS))));
    }

    private static Form form(String name, KafkaForms forms, int records, Run run) {
        return new Form(name, () -> {
            forms.clear();
            double seconds = run.seconds();
            forms.requireEffects(records);
            return Sample.of(RECORDS, records / seconds);
        });
    }

    @FunctionalInterface
    private interface Run {
        double seconds() throws Exception;
    }
}
