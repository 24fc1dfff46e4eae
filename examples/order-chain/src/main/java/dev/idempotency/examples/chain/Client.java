package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Timeline.Outcome;
import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderAnswer;
import dev.idempotency.examples.chain.service.OrderRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Sends an order until it is answered, with the same key every time.
 *
 * <p>It is plain {@code java.net.http} and not idempotency-client: the judge uses nothing of what it judges.
 */
final class Client {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final double IMPATIENT = 0.10;
    private static final Duration GIVE_UP = Duration.ofSeconds(90);
    private static final long LONGEST_PAUSE_MILLIS = 1000;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final ServiceProcess orders;
    private final Timeline timeline;
    private final Answers answers;

    Client(ServiceProcess orders, Timeline timeline, Answers answers) {
        this.orders = orders;
        this.timeline = timeline;
        this.answers = answers;
    }

    /** One answer, or none. */
    private record Reply(Outcome outcome, @Nullable UUID orderId, long pauseMillis) {}

    /**
     * Sends the intent until it is answered or this client gives up, which the count at the end will show.
     *
     * @param intent what to buy
     * @param me the client's number
     * @param twin true for the second of two requests sent at the same moment
     * @param random what the time-outs and pauses are drawn from
     */
    void order(Intent intent, int me, boolean twin, SplittableRandom random) throws InterruptedException {
        long end = System.nanoTime() + GIVE_UP.toNanos();
        for (int number = 1; System.nanoTime() < end; number++) {
            Duration timeout = timeout(number, random);
            long from = timeline.now();
            Reply reply = send(intent, timeout);
            timeline.add(new Timeline.Attempt(
                    intent, me, twin, number, from, timeline.now(), reply.outcome(), reply.orderId()));
            if (reply.orderId() != null) {
                answers.told(intent, reply.orderId());
                return;
            }
            Pause.ofMillis(reply.pauseMillis() + random.nextLong(30));
        }
    }

    /** Now and then a client gives up while the service is still at work; that is where repeats come from. */
    private static Duration timeout(int number, SplittableRandom random) {
        return number == 1 && random.nextDouble() < IMPATIENT ? Duration.ofMillis(random.nextLong(2, 25)) : PATIENCE;
    }

    private Reply send(Intent intent, Duration timeout) throws InterruptedException {
        Optional<URI> service = orders.uri();
        if (service.isEmpty()) {
            return new Reply(Outcome.DISCONNECTED, null, 50);
        }
        OrderRequest body = new OrderRequest(intent.name(), intent.customer(), intent.amountCents());
        HttpRequest request = HttpRequest.newBuilder(service.get().resolve("/orders"))
                .timeout(timeout)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", intent.key())
                .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)))
                .build();
        try {
            return read(http.send(request, HttpResponse.BodyHandlers.ofByteArray()));
        } catch (HttpTimeoutException e) {
            return new Reply(Outcome.TIMED_OUT, null, 0);
        } catch (IOException e) {
            return new Reply(Outcome.DISCONNECTED, null, 50);
        }
    }

    private static Reply read(HttpResponse<byte[]> response) {
        if (response.statusCode() == 201) {
            boolean replayed = response.headers()
                    .firstValue("Idempotent-Replayed")
                    .map("true"::equals)
                    .orElse(false);
            UUID orderId = Json.read(response.body(), OrderAnswer.class).orderId();
            return new Reply(replayed ? Outcome.REPLAYED : Outcome.PLACED, orderId, 0);
        }
        Outcome outcome = response.statusCode() == 409 ? Outcome.REFUSED : Outcome.UNAVAILABLE;
        return new Reply(outcome, null, pauseMillis(response));
    }

    /** As long as the service asks for, within reason. */
    private static long pauseMillis(HttpResponse<byte[]> response) {
        long seconds = response.headers().firstValueAsLong("Retry-After").orElse(0);
        return Math.min(LONGEST_PAUSE_MILLIS, Math.max(50, seconds * 1000));
    }
}
