package dev.idempotency.client;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.shutdown.GracefulShutdown;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** The code that the module's page shows, compiled. */
abstract class ChargeExample {
    private final IdempotentHttpClient client;

    ChargeExample(GracefulShutdown shutdown) {
        IdempotentHttpClient client = IdempotentHttpClient.builder(HttpClient.newHttpClient(), ProviderFormats.stripe())
                .shutdown(shutdown)
                .build();
        this.client = client;
    }

    void charge(HttpRequest request, IdempotencyContext context) throws IOException, InterruptedException {
        CallOutcome<String> outcome = client.send(request, context.derive("charge"), BodyHandlers.ofString());
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

    abstract void store(HttpResponse<String> response);

    abstract void askTheProviderWhatHappened();

    static final class ChargeInDoubt extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
