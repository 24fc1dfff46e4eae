package dev.idempotency.client;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.shutdown.GracefulShutdown;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;

/** The code that the module's page shows, compiled. */
abstract class ChargeExample {
    private final IdempotentHttpClient client;

    ChargeExample(GracefulShutdown shutdown) {
        IdempotentHttpClient client = IdempotentHttpClient.builder(HttpClient.newHttpClient(), ProviderFormats.stripe())
                .shutdown(shutdown)
                .build();
        this.client = client;
    }

    void charge(HttpRequest request, IdempotencyContext context, Order order) throws IOException, InterruptedException {
        // Not the time of this run: the key is the same in every run, and the provider forgets it.
        Instant firstUsedAt = order.placedAt();
        CallOutcome<String> outcome =
                client.send(request, context.derive("charge"), firstUsedAt, BodyHandlers.ofString());
        if (outcome instanceof CallOutcome.Answered<String> answered) {
            store(answered.response());
        } else if (outcome instanceof CallOutcome.KeyExpired<String>) {
            // Never blindly again.
            askTheProviderWhatHappened();
        } else {
            // The operation is run again, and sends the same key.
            throw new ChargeInDoubt();
        }
    }

    record Order(Instant placedAt) {}

    abstract void store(HttpResponse<String> response);

    abstract void askTheProviderWhatHappened();

    static final class ChargeInDoubt extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
