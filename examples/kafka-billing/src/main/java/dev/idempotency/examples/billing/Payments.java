package dev.idempotency.examples.billing;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.client.CallOutcome;
import dev.idempotency.client.IdempotentHttpClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;

/** Charges orders at the payment provider. */
final class Payments {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final IdempotentHttpClient client;
    private final URI charges;

    Payments(IdempotentHttpClient client, URI provider) {
        this.client = client;
        this.charges = provider.resolve("/charges");
    }

    private record ChargeAnswer(String chargeId) {}

    /**
     * Charges an order.
     *
     * @param order what to charge
     * @param key the same for every attempt of this charge, also after a crash
     * @return the provider's id of the charge
     * @throws PaymentException if the provider refused, or nobody knows whether it has charged: ask again, with the
     *     same key; once the provider may have forgotten it, nothing is sent any more, and somebody has to look
     */
    String charge(OrderPlaced order, IdempotencyKey key) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(charges)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(order)))
                .build();
        // Not the time of this run, nor of this message: the key may have been used in an earlier run, for an earlier
        // message of the same event, and the provider counts from there until it forgets the key.
        Instant firstUsedAt = Instant.ofEpochMilli(order.placedAtMillis());
        CallOutcome<byte[]> outcome = client.send(request, key, firstUsedAt, HttpResponse.BodyHandlers.ofByteArray());
        if (outcome instanceof CallOutcome.Answered<byte[]> answered
                && answered.response().statusCode() == 200) {
            return JSON.readValue(answered.response().body(), ChargeAnswer.class)
                    .chargeId();
        }
        throw new PaymentException("The order " + order.orderId() + " was not confirmed as charged: " + outcome);
    }
}
