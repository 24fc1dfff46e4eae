package dev.idempotency.examples.chain.billing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.net.httpserver.HttpServer;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.client.IdempotentHttpClient;
import dev.idempotency.client.ProviderFormat;
import dev.idempotency.examples.chain.service.OrderPlaced;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The charge of an event that was parked until the provider had forgotten its key. */
final class GuardedBillingTest {
    private static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");

    @Test
    void charge_afterTheProvidersRetention_sendsNothing() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.createContext("/charges", exchange -> {
            requests.incrementAndGet();
            exchange.sendResponseHeaders(500, -1);
            exchange.close();
        });
        provider.start();
        URI charges = URI.create("http://127.0.0.1:" + provider.getAddress().getPort() + "/charges");
        try (IdempotentHttpClient client = IdempotentHttpClient.builder(
                        HttpClient.newHttpClient(), ProviderFormat.of("Idempotency-Key", Duration.ofHours(24)))
                .maxAttempts(1)
                .build()) {
            OrderPlaced old = new OrderPlaced(
                    UUID.randomUUID(),
                    100,
                    Instant.now().minus(Duration.ofHours(25)).toEpochMilli());
            assertThatIllegalStateException()
                    .isThrownBy(() -> new GuardedBilling(client, charges).charge(old, KEY))
                    .withMessageContaining("KeyExpired");
        } finally {
            provider.stop(0);
        }
        assertThat(requests).hasValue(0);
    }
}
