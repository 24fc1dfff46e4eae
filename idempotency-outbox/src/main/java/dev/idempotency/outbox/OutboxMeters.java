package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxBacklog;
import dev.idempotency.spi.PublishOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * Makes Micrometer meters of what a relay does; applications that have a {@link MeterRegistry} make one per relay.
 *
 * <pre>{@code
 * OutboxMeters meters = OutboxMeters.of(registry, "orders");
 * OutboxRelay relay = OutboxRelay.leasing(store, publisher).listener(meters).build();
 * meters.watch(relay);
 * meters.watch(OutboxAdministration.of(store));
 * }</pre>
 *
 * <p>All meters carry the tag {@code relay}, and never an id, a key, a topic or a tenant:
 *
 * <ul>
 *   <li>{@code idempotency.outbox.events}, counter, with {@code outcome}: {@code published}; {@code record}, {@code topic},
 *       {@code broker} and {@code fatal} for attempts that failed for that reason; {@code dead}; {@code fenced}
 *   <li>{@code idempotency.outbox.send}, timer from handing over to the answer
 *   <li>{@code idempotency.outbox.read} and {@code idempotency.outbox.mark}, timers of statements; {@code
 *       idempotency.outbox.read.rows}, how many rows came
 *   <li>{@code idempotency.outbox.leases}, ranges held, and {@code idempotency.outbox.leases.lost}, counter
 *   <li>of a watched relay: {@code idempotency.outbox.inflight}, {@code idempotency.outbox.inflight.bytes}, {@code
 *       idempotency.outbox.topics.failing}, and {@code idempotency.outbox.up}: 1 while events are published, 0.5 while the
 *       broker or a topic refuses them, else 0
 *   <li>of a watched outbox: {@code idempotency.outbox.lag}, the age of its first unfinished event, and {@code
 *       idempotency.outbox.backlog}, the most there can be; asked of the database at most every 5 s, NaN while it does not
 *       answer
 * </ul>
 *
 * <p>Needs {@code io.micrometer:micrometer-core}, which this module does not bring. A watched relay is held weakly, a watched
 * outbox until {@link #close}. Safe for use by many threads.
 */
public final class OutboxMeters implements RelayListener, AutoCloseable {
    private static final String PREFIX = "idempotency.outbox.";
    private static final String EVENTS = PREFIX + "events";

    private final MeterRegistry registry;
    private final Tags tags;
    private final List<Meter> meters = new CopyOnWriteArrayList<>();
    private final Counter published;
    private final Counter dead;
    private final Counter fenced;
    private final Map<PublishOutcome.Kind, Counter> failures = new EnumMap<>(PublishOutcome.Kind.class);
    private final Timer send;
    private final Timer read;
    private final Timer mark;
    private final DistributionSummary rowsRead;
    private final Counter leasesLost;
    private final AtomicInteger leasesHeld;

    private OutboxMeters(MeterRegistry registry, String relay) {
        this.registry = registry;
        this.tags = Tags.of("relay", relay);
        this.published = events("published");
        this.dead = events("dead");
        this.fenced = events("fenced");
        for (PublishOutcome.Kind kind : PublishOutcome.Kind.values()) {
            failures.put(kind, events(kind.name().toLowerCase(Locale.ROOT)));
        }
        this.send = timer("send", "From handing an event to the publisher to its answer");
        this.read = timer("read", "The look for events in the outbox");
        this.mark = timer("mark", "The statement that writes what became of events");
        this.rowsRead = keep(DistributionSummary.builder(PREFIX + "read.rows")
                .description("Rows that one look has found")
                .baseUnit("rows")
                .tags(tags)
                .register(registry));
        this.leasesLost = keep(Counter.builder(PREFIX + "leases.lost")
                .description("Bucket ranges that were held and are lost")
                .tags(tags)
                .register(registry));
        this.leasesHeld = new AtomicInteger();
        gauge("leases", "Bucket ranges held", leasesHeld, AtomicInteger::get);
    }

    /**
     * Registers the meters of one relay.
     *
     * @param registry where
     * @param relay the relay's name, the value of the tag {@code relay}
     * @return the listener to give to the relay's builder
     */
    public static OutboxMeters of(MeterRegistry registry, String relay) {
        return new OutboxMeters(Objects.requireNonNull(registry, "registry"), Objects.requireNonNull(relay, "relay"));
    }

    /**
     * Registers the gauges of a relay's state.
     *
     * @param relay the relay
     */
    public void watch(OutboxRelay relay) {
        gauge(
                "inflight",
                "Events handed over and not marked yet",
                relay,
                watched -> watched.statistics().inFlight());
        gauge(
                "inflight.bytes",
                "Bytes handed over and not marked yet",
                relay,
                watched -> watched.statistics().bytesInFlight());
        gauge(
                "topics.failing",
                "Topics that refuse events and rest",
                relay,
                watched -> watched.health().failingTopics().size());
        gauge("up", "1: events are published; 0.5: some are refused; 0: none are", relay, OutboxMeters::up);
    }

    private static double up(OutboxRelay relay) {
        return switch (relay.health().status()) {
            case UP -> 1;
            case DEGRADED -> 0.5;
            case NEW, DOWN, STOPPED -> 0;
        };
    }

    /**
     * Registers the gauges of what waits in an outbox, which the registry holds from then on: usually nobody else does.
     *
     * @param outbox the outbox's administration
     */
    public void watch(OutboxAdministration outbox) {
        BacklogLook look = new BacklogLook(System::nanoTime);
        keep(TimeGauge.builder(PREFIX + "lag", outbox, TimeUnit.SECONDS, watched -> look.seconds(watched))
                .strongReference(true)
                .description("The age of the first unfinished event")
                .tags(tags)
                .register(registry));
        keep(Gauge.builder(PREFIX + "backlog", outbox, watched -> look.atMost(watched))
                .strongReference(true)
                .description("The most events that can be unfinished")
                .tags(tags)
                .register(registry));
    }

    @Override
    public void read(int rows, Duration took) {
        read.record(took);
        rowsRead.record(rows);
    }

    @Override
    public void answered(String topic, PublishOutcome outcome, Duration took) {
        send.record(took);
        if (outcome instanceof PublishOutcome.Failed failed) {
            Objects.requireNonNull(failures.get(failed.kind())).increment();
        } else {
            published.increment();
        }
    }

    @Override
    public void marked(int rows, int passedOver, Duration took) {
        mark.record(took);
        fenced.increment(passedOver);
    }

    @Override
    public void dead(String topic) {
        dead.increment();
    }

    @Override
    public void leases(int held, int lost) {
        leasesHeld.set(held);
        leasesLost.increment(lost);
    }

    /** Removes the meters from their registry. */
    @Override
    public void close() {
        meters.forEach(registry::remove);
        meters.clear();
    }

    private Counter events(String outcome) {
        return keep(Counter.builder(EVENTS)
                .description("What became of events")
                .tags(tags)
                .tag("outcome", outcome)
                .register(registry));
    }

    private Timer timer(String name, String description) {
        return keep(
                Timer.builder(PREFIX + name).description(description).tags(tags).register(registry));
    }

    private <T> void gauge(String name, String description, T watched, ToDoubleFunction<T> value) {
        keep(Gauge.builder(PREFIX + name, watched, value)
                .description(description)
                .tags(tags)
                .register(registry));
    }

    private <M extends Meter> M keep(M meter) {
        meters.add(meter);
        return meter;
    }

    /** One look at the outbox's ends serves all gauges of a scrape. */
    static final class BacklogLook {
        private static final long FRESH_NANOS = Duration.ofSeconds(5).toNanos();

        private final LongSupplier ticker;
        private long takenNanos;
        private boolean taken;
        private double seconds = Double.NaN;
        private double atMost = Double.NaN;

        BacklogLook(LongSupplier ticker) {
            this.ticker = ticker;
        }

        synchronized double seconds(OutboxAdministration outbox) {
            refresh(outbox);
            return seconds;
        }

        synchronized double atMost(OutboxAdministration outbox) {
            refresh(outbox);
            return atMost;
        }

        private void refresh(OutboxAdministration outbox) {
            long now = ticker.getAsLong();
            if (taken && now - takenNanos < FRESH_NANOS) {
                return;
            }
            taken = true;
            takenNanos = now;
            try {
                OutboxBacklog backlog = outbox.backlog();
                seconds = backlog.oldestAge().toNanos() / 1e9;
                atMost = backlog.atMost();
            } catch (RuntimeException e) {
                seconds = Double.NaN;
                atMost = Double.NaN;
            }
        }
    }
}
