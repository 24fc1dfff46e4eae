package dev.idempotency.kafka;

import dev.idempotency.event.ProcessingListener;
import dev.idempotency.event.ProcessingReport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counts in Micrometer what consumers do; applications give one to {@link IdempotentConsumerBuilder#listener} and, for the
 * gauges, to {@link #watch}.
 *
 * <table>
 * <caption>The meters, each with the tag {@code consumer}</caption>
 * <tr><th>meter</th><th>is</th></tr>
 * <tr><td>{@code idempotency.consumer.records}</td><td>records by {@code outcome}: {@code handled}, {@code duplicate}
 *     (processed before), {@code repeated} (twice in one transaction), {@code parked}, {@code failed}, {@code
 *     replayed}</td></tr>
 * <tr><td>{@code idempotency.consumer.transactions}</td><td>time of transactions by {@code outcome}: the kinds of {@link
 *     ProcessingReport.Kind} in lower case</td></tr>
 * <tr><td>{@code idempotency.consumer.batch.size}</td><td>records in a committed transaction</td></tr>
 * <tr><td>{@code idempotency.consumer.lag}</td><td>records that are not polled yet</td></tr>
 * <tr><td>{@code idempotency.consumer.waiting}</td><td>partitions that stand still</td></tr>
 * <tr><td>{@code idempotency.consumer.running}</td><td>1 while the consumer runs, else 0</td></tr>
 * </table>
 *
 * <p>No event id, key or payload becomes a tag. Needs {@code io.micrometer:micrometer-core}. Safe for use by many threads.
 */
public final class ConsumerMeters implements ProcessingListener, AutoCloseable {
    private static final String PREFIX = "idempotency.consumer.";

    private final MeterRegistry registry;
    private final List<Meter> gauges = new CopyOnWriteArrayList<>();

    private ConsumerMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /**
     * Returns the meters of any number of consumers.
     *
     * @param registry where they are registered
     * @return the meters
     */
    public static ConsumerMeters of(MeterRegistry registry) {
        return new ConsumerMeters(Objects.requireNonNull(registry, "registry"));
    }

    /**
     * Registers the gauges of a consumer, which the registry holds until {@link #close()}. A lag that is not known, as that
     * of a consumer without a partition, is not a number.
     *
     * @param consumer the consumer, started or not
     */
    public void watch(IdempotentConsumer<?, ?> consumer) {
        Tags tags = Tags.of("consumer", consumer.name());
        gauges.add(Gauge.builder(PREFIX + "lag", consumer, ConsumerMeters::lag)
                .strongReference(true)
                .tags(tags)
                .baseUnit("records")
                .register(registry));
        gauges.add(Gauge.builder(
                        PREFIX + "waiting",
                        consumer,
                        watched -> watched.waiting().size())
                .strongReference(true)
                .tags(tags)
                .baseUnit("partitions")
                .register(registry));
        gauges.add(Gauge.builder(PREFIX + "running", consumer, watched -> watched.isRunning() ? 1 : 0)
                .strongReference(true)
                .tags(tags)
                .register(registry));
    }

    private static double lag(IdempotentConsumer<?, ?> consumer) {
        OptionalLong lag = consumer.lag();
        return lag.isPresent() ? lag.getAsLong() : Double.NaN;
    }

    @Override
    public void onTransaction(ProcessingReport report) {
        String consumer = report.consumer().value();
        Timer.builder(PREFIX + "transactions")
                .tags("consumer", consumer, "outcome", report.kind().name().toLowerCase(Locale.ROOT))
                .register(registry)
                .record(report.elapsed());
        switch (report.kind()) {
            case COMMITTED -> {
                count(consumer, "handled", report.handled());
                count(consumer, "duplicate", report.duplicates());
                count(consumer, "repeated", report.repeated());
                DistributionSummary.builder(PREFIX + "batch.size")
                        .tags("consumer", consumer)
                        .baseUnit("records")
                        .register(registry)
                        .record(report.events());
            }
            case REPLAYED -> count(consumer, "replayed", report.handled());
            case PARKED -> count(consumer, "parked", 1);
            case FAILED, CONNECTION_LOST -> count(consumer, "failed", 1);
            case SPLIT, FENCED, CONFLICT, COMMIT_UNKNOWN, UNAVAILABLE -> {
                // The transaction's timer says it; what becomes of the records is told by a later one.
            }
        }
    }

    private void count(String consumer, String outcome, int records) {
        if (records > 0) {
            Counter.builder(PREFIX + "records")
                    .tags("consumer", consumer, "outcome", outcome)
                    .register(registry)
                    .increment(records);
        }
    }

    /** Takes the gauges out of the registry; counters and timers stay. */
    @Override
    public void close() {
        gauges.forEach(registry::remove);
        gauges.clear();
    }
}
