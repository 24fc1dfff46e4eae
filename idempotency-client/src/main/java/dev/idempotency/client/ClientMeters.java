package dev.idempotency.client;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Objects;

/**
 * Counts and times outgoing calls in Micrometer; applications give one to {@link IdempotentHttpClientBuilder#listener}.
 *
 * <p>{@code idempotency.client.calls} is a timer, waits between attempts included; {@code idempotency.client.attempts} a
 * summary of how many attempts the calls took. Both have the tags {@code provider}, {@code outcome} (the name of a {@link
 * CallReport.Ending} in lower case) and {@code status} ({@code 2xx}, {@code 4xx} and so on, {@code none} without an answer).
 * There is never a key or an address in a tag.
 *
 * <p>It needs {@code io.micrometer:micrometer-core}. Safe for use by many threads.
 */
public final class ClientMeters implements CallListener {
    private final MeterRegistry registry;
    private final String provider;

    private ClientMeters(MeterRegistry registry, String provider) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.provider = Objects.requireNonNull(provider, "provider");
    }

    /**
     * Returns the meters of the calls to one provider.
     *
     * @param registry where the meters are
     * @param provider the provider's name in the tags
     * @return the listener
     */
    public static ClientMeters of(MeterRegistry registry, String provider) {
        return new ClientMeters(registry, provider);
    }

    @Override
    public void onCall(CallReport report) {
        Tags tags = Tags.of(
                "provider",
                provider,
                "outcome",
                report.ending().name().toLowerCase(Locale.ROOT),
                "status",
                report.status() == 0 ? "none" : report.status() / 100 + "xx");
        Timer.builder("idempotency.client.calls")
                .description("Outgoing calls under a key, all attempts and waits of one together")
                .tags(tags)
                .register(registry)
                .record(report.elapsed());
        DistributionSummary.builder("idempotency.client.attempts")
                .description("Attempts per outgoing call")
                .tags(tags)
                .register(registry)
                .record(report.attempts());
    }
}
