package dev.idempotency.benchmarks.outbox;

import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.BenchServer;
import dev.idempotency.benchmarks.database.CountingDataSource;
import dev.idempotency.benchmarks.harness.Contest;
import dev.idempotency.benchmarks.harness.Figure;
import dev.idempotency.benchmarks.harness.Form;
import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Load;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Settings;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.harness.Target;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.AppInfoParser;

/** The relay of each mode against Kafka's producer alone, the textbook's relay, and what writers and idleness cost. */
public final class OutboxSuite implements Suite {
    private static final Metric TRANSACTIONS = Metric.rate("transactions");
    private static final Metric QUERIES = Metric.rate("queries");
    private static final int PARTITIONS = 8;
    private static final String BACKLOG = "backlog";

    @Override
    public String name() {
        return "outbox";
    }

    @Override
    public void run(Harness harness) throws Exception {
        try (BenchServer server = BenchServer.start(harness);
                EmbeddedKafka kafka = EmbeddedKafka.start();
                BenchDatabase database = server.createDatabase()) {
            kafka.createTopic(OutboxForms.TOPIC, PARTITIONS);
            harness.note(
                    "Kafka",
                    AppInfoParser.getVersion() + ", one broker in this virtual machine, " + PARTITIONS
                            + " partitions, payload of 200 bytes, acks=all");
            OutboxForms forms = new OutboxForms(database, kafka);
            relays(harness, forms);
            append(harness, forms);
            idle(harness, database, forms);
            latency(harness, forms);
            snapshot(harness, forms);
            if (harness.wants(BACKLOG)) {
                backlog(harness, server, kafka);
            }
        }
    }

    private static void relays(Harness harness, OutboxForms forms) throws Exception {
        Settings settings = harness.settings();
        int many = settings.size(100_000, 4_000);
        int some = settings.size(50_000, 2_000);
        int few = settings.size(2_000, 100);
        harness.run(new Contest(
                "relay",
                List.of(
                        new Form("bare producer", () -> BareProducer.send(forms.producerSettings(), forms.ids(), many)),
                        new Form("LEASE", () -> forms.relayAll(OutboxForms::lease, many)),
                        new Form("CLAIM", () -> forms.relayAll(OutboxForms::claim, some)),
                        new Form("LOCK", () -> forms.relayAll(OutboxForms::lock, some)),
                        new Form("textbook", () -> TextbookRelay.relayAll(forms, few))),
                List.of(
                        Figure.against("LEASE", "bare producer", OutboxForms.EVENTS)
                                .target(Target.ratioAtLeast(0.4)),
                        Figure.against("CLAIM", "bare producer", OutboxForms.EVENTS)
                                .target(Target.ratioAtLeast(0.1)),
                        Figure.against("LOCK", "bare producer", OutboxForms.EVENTS)
                                .target(Target.ratioAtLeast(0.2)),
                        Figure.against("LEASE", "textbook", OutboxForms.EVENTS).target(Target.ratioAtLeast(15)),
                        Figure.alone("LEASE", OutboxForms.RELAY_LOG),
                        Figure.alone("LEASE", OutboxForms.WHOLE_LOG).target(Target.valueAtMost(600)),
                        Figure.alone("CLAIM", OutboxForms.RELAY_LOG),
                        Figure.alone("CLAIM", OutboxForms.WHOLE_LOG).target(Target.valueAtMost(1_900)),
                        Figure.alone("LOCK", OutboxForms.RELAY_LOG),
                        Figure.alone("LOCK", OutboxForms.WHOLE_LOG))));
    }

    private static void append(Harness harness, OutboxForms forms) throws Exception {
        Settings settings = harness.settings();
        harness.run(new Contest(
                "append",
                List.of(
                        new Form(
                                "bare transaction",
                                () -> Sample.of(TRANSACTIONS, Load.perSecond(settings, forms::bareTransaction))),
                        new Form("with an event", () -> {
                            forms.clear();
                            return Sample.of(TRANSACTIONS, Load.perSecond(settings, forms::transactionWithEvent));
                        })),
                List.of(Figure.against("with an event", "bare transaction", TRANSACTIONS))));
    }

    private static void idle(Harness harness, BenchDatabase database, OutboxForms forms) throws Exception {
        Settings settings = harness.settings();
        harness.run(new Contest(
                "idle relay",
                List.of(
                        new Form("LEASE", () -> idle(settings, database, forms, OutboxForms::lease)),
                        new Form("CLAIM", () -> idle(settings, database, forms, OutboxForms::claim)),
                        new Form("LOCK", () -> idle(settings, database, forms, OutboxForms::lock))),
                List.of(
                        Figure.alone("LEASE", QUERIES).target(Target.valueAtMost(2)),
                        Figure.alone("CLAIM", QUERIES).target(Target.valueAtMost(2)),
                        Figure.alone("LOCK", QUERIES).target(Target.valueAtMost(2)))));
    }

    private static Sample idle(Settings settings, BenchDatabase database, OutboxForms forms, OutboxForms.Mode mode) {
        forms.clear();
        CountingDataSource counter = CountingDataSource.of(database.pool());
        try (OutboxPublisher publisher = KafkaOutboxPublisher.of(forms.producerSettings());
                OutboxRelay relay = mode.relay(counter.dataSource(), publisher)) {
            relay.start();
            // Until it has found its idle pace.
            pause(Duration.ofSeconds(settings.size(10, 2)));
            long before = counter.executions();
            int seconds = settings.size(20, 2);
            pause(Duration.ofSeconds(seconds));
            return Sample.of(QUERIES, (double) (counter.executions() - before) / seconds);
        }
    }

    private static void latency(Harness harness, OutboxForms forms) throws Exception {
        Latency latency = new Latency(forms, harness.settings());
        harness.run(new Contest(
                "steady load of " + Latency.EVENTS_PER_SECOND + " events/s",
                List.of(new Form("LEASE with nudge", latency::measure)),
                List.of(
                        Figure.alone("LEASE with nudge", OutboxForms.EVENTS),
                        Figure.alone("LEASE with nudge", Latency.MEDIAN).target(Target.valueAtMost(15)),
                        Figure.alone("LEASE with nudge", Latency.NINETY_NINTH).target(Target.valueAtMost(60)))));
    }

    private static void snapshot(Harness harness, OutboxForms forms) throws Exception {
        int events = harness.settings().size(50_000, 2_000);
        String free = "vacuum at work";
        String blocked = "vacuum blocked by an old snapshot";
        harness.run(new Contest(
                "relay, LEASE",
                List.of(new Form(free, () -> relayTwice(forms, events)), new Form(blocked, () -> {
                    try (Connection connection = forms.database().pool().getConnection()) {
                        holdSnapshot(connection);
                        return relayTwice(forms, events);
                    }
                })),
                List.of(Figure.against(blocked, free, OutboxForms.EVENTS).target(Target.ratioAtLeast(0.8)))));
    }

    /** The first batch leaves its dead rows in the way of the second, which is measured. */
    private static Sample relayTwice(OutboxForms forms, int events) throws InterruptedException {
        forms.refill(events);
        forms.relaySome(OutboxForms::lease, events);
        forms.append(events);
        forms.database().vacuum("outbox_event");
        return forms.relaySome(OutboxForms::lease, events);
    }

    private static void holdSnapshot(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT count(*) FROM outbox_lease");
        }
    }

    private static void backlog(Harness harness, BenchServer server, EmbeddedKafka kafka) throws Exception {
        Settings settings = harness.settings();
        int events = settings.size(50_000, 2_000);
        long few = settings.rows() / 10;
        try (BenchDatabase small = server.createDatabase();
                BenchDatabase large = server.createDatabase()) {
            OutboxForms smallForms = new OutboxForms(small, kafka);
            OutboxForms largeForms = new OutboxForms(large, kafka);
            String fewer = few + " rows that wait";
            String more = settings.rows() + " rows that wait";
            smallForms.append(1_000);
            largeForms.append(1_000);
            harness.run(new Contest(
                    BACKLOG + ", LEASE",
                    List.of(
                            new Form(fewer, () -> relayOfBacklog(smallForms, few, events)),
                            new Form(more, () -> relayOfBacklog(largeForms, settings.rows(), events))),
                    List.of(Figure.against(more, fewer, OutboxForms.EVENTS).target(Target.ratioAtLeast(0.75)))));
        }
    }

    private static Sample relayOfBacklog(OutboxForms forms, long rows, int events) throws InterruptedException {
        forms.fillUp(rows);
        return forms.relaySome(OutboxForms::lease, events);
    }

    private static void pause(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        for (long left = duration.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
