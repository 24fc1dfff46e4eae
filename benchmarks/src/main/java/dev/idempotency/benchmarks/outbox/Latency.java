package dev.idempotency.benchmarks.outbox;

import dev.idempotency.benchmarks.harness.Load;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Settings;
import dev.idempotency.kafka.KafkaOutboxPublisher;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** How long an event takes from its commit to the broker's acknowledgment, while a steady thousand a second are written. */
final class Latency {
    static final Metric MEDIAN = new Metric("p50 from commit to acknowledgment", "ms");
    static final Metric NINETY_NINTH = new Metric("p99 from commit to acknowledgment", "ms");
    static final int EVENTS_PER_SECOND = 1_000;

    private static final int WRITERS = 4;

    private final OutboxForms forms;
    private final int seconds;

    Latency(OutboxForms forms, Settings settings) {
        this.forms = forms;
        this.seconds = settings.size(10, 1);
    }

    Sample measure() throws Exception {
        forms.clear();
        int events = EVENTS_PER_SECOND * seconds;
        Map<UUID, Long> committed = new ConcurrentHashMap<>();
        Map<UUID, Long> acknowledged = new ConcurrentHashMap<>();
        double rate;
        try (WatchedPublisher publisher = new WatchedPublisher(
                        KafkaOutboxPublisher.of(forms.producerSettings()),
                        events,
                        id -> acknowledged.put(id, System.nanoTime()));
                OutboxRelay relay = OutboxForms.lease(forms.database().pool(), publisher)) {
            relay.start();
            rate = write(relay, committed, events);
            publisher.await();
        }
        double[] latencies = committed.entrySet().stream()
                // An acknowledgment may overtake the return of the commit, which it nudged.
                .mapToDouble(entry -> Math.max(0, moment(acknowledged, entry.getKey()) - entry.getValue()) / 1e6)
                .sorted()
                .toArray();
        return Sample.of(OutboxForms.EVENTS, rate)
                .and(MEDIAN, latencies[latencies.length / 2])
                .and(NINETY_NINTH, latencies[latencies.length * 99 / 100]);
    }

    /** Each event has its moment, so that a slow commit is not followed by a pause that would flatter the next ones. */
    private double write(OutboxRelay relay, Map<UUID, Long> committed, int events) throws Exception {
        Outbox outbox = Outbox.builder(forms.store()).afterCommit(relay::nudge).build();
        AtomicLong next = new AtomicLong();
        long begin = System.nanoTime();
        double turns = Load.perSecond(WRITERS, Duration.ZERO, () -> {
            for (long number = next.getAndIncrement(); number < events; number = next.getAndIncrement()) {
                awaitMoment(begin + number * 1_000_000_000L / EVENTS_PER_SECOND);
                UUID id = forms.ids().next();
                forms.transactions()
                        .run(
                                TransactionLimits.ofDefaults(),
                                transaction -> outbox.append(transaction, OutboxForms.event(id)));
                committed.put(id, System.nanoTime());
            }
        });
        // Each writer has one turn, in which it writes its share.
        return turns / WRITERS * events;
    }

    private static long moment(Map<UUID, Long> moments, UUID id) {
        return Objects.requireNonNull(moments.get(id), "an event that was committed was not acknowledged");
    }

    private static void awaitMoment(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
