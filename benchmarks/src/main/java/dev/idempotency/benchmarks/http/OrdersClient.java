package dev.idempotency.benchmarks.http;

import dev.idempotency.benchmarks.database.TimeOrderedIds;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Sends orders, each under a key of its own or under a given one. Safe for use by many threads. */
final class OrdersClient {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    String newKey() {
        return ids.next().toString();
    }

    /** Sends an order that must be placed, or be answered as it was placed. */
    HttpResponse<String> place(URI uri, String key) throws IOException, InterruptedException {
        HttpResponse<String> response = send(uri, key);
        if (response.statusCode() != 201) {
            throw new IllegalStateException(
                    "An order was to be placed, but the answer was " + response.statusCode() + " " + response.body());
        }
        return response;
    }

    /** Sends an order. */
    HttpResponse<String> send(URI uri, String key) throws IOException, InterruptedException {
        return client.send(request(uri, key).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Begins a slow order. */
    CompletableFuture<HttpResponse<String>> beginSlow(URI uri, String key) {
        return client.sendAsync(
                request(uri, key).header(OrdersServlet.SLOW, "yes").build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(URI uri, String key) {
        return HttpRequest.newBuilder(uri)
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", "\"" + key + "\"")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"customer\":\"customer-1\",\"item\":\"an item\",\"quantity\":1,\"note\":\"" + "x".repeat(150)
                                + "\"}"));
    }
}
