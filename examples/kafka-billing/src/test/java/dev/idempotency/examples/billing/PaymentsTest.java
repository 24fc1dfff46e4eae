package dev.idempotency.examples.billing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.client.IdempotentHttpClient;
import dev.idempotency.client.ProviderFormat;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The charge of an event that is handled again, soon or late. */
final class PaymentsTest {
    private static final Duration RETENTION = Duration.ofHours(24);
    private static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");

    private static OrderPlaced placed(Duration ago) {
        return new OrderPlaced(UUID.randomUUID(), 100, Instant.now().minus(ago).toEpochMilli());
    }

    @Test
    void charge_againWithinTheRetention_isTheFirstCharge() throws Exception {
        try (ForgetfulProvider provider = new ForgetfulProvider();
                IdempotentHttpClient client = client()) {
            Payments payments = new Payments(client, provider.uri());
            OrderPlaced order = placed(Duration.ofHours(23));
            assertThat(payments.charge(order, KEY)).isEqualTo(payments.charge(order, KEY));
            assertThat(provider.charges()).isEqualTo(1);
        }
    }

    @Test
    void charge_afterTheRetention_sendsNothing() throws Exception {
        try (ForgetfulProvider provider = new ForgetfulProvider();
                IdempotentHttpClient client = client()) {
            Payments payments = new Payments(client, provider.uri());
            assertThatExceptionOfType(PaymentException.class)
                    .isThrownBy(() -> payments.charge(placed(Duration.ofHours(25)), KEY));
            assertThat(provider.requests()).isZero();
        }
    }

    private static IdempotentHttpClient client() {
        return IdempotentHttpClient.ofDefaults(
                HttpClient.newHttpClient(), ProviderFormat.of("Idempotency-Key", RETENTION));
    }
}
