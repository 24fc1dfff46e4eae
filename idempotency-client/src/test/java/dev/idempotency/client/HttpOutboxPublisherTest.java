package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import dev.idempotency.testkit.fault.Gate;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpOutboxPublisherTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(24);

    private final Provider provider = new Provider();
    private final IdempotentHttpClient client = IdempotentHttpClient.builder(
                    HttpClient.newHttpClient(), ProviderFormat.of("Idempotency-Key", RETENTION))
            .maxAttempts(3)
            .backOff(Duration.ofMillis(10), Duration.ofMillis(10))
            .attemptTimeout(Duration.ofSeconds(10))
            .totalTime(Duration.ofSeconds(20))
            .maxBodyBytes(1000)
            .build();
    private final AtomicLong nanos = new AtomicLong();
    private final Map<Long, CompletableFuture<PublishOutcome>> outcomes = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Long> order = new ConcurrentLinkedQueue<>();
    private HttpOutboxPublisher publisher = publisher(16, this::post);

    private HttpOutboxPublisher publisher(int maxConcurrent, Function<OutboxEvent, HttpRequest> requests) {
        return HttpOutboxPublisher.builder(client, requests)
                .maxConcurrent(maxConcurrent)
                .longestQueue(Duration.ofSeconds(10))
                .nanoTime(nanos::get)
                .build();
    }

    @AfterEach
    void close() {
        publisher.close();
        client.close();
        provider.close();
    }

    private HttpRequest post(OutboxEvent event) {
        return HttpRequest.newBuilder(provider.uri("/" + event.topic()))
                .POST(BodyPublishers.ofByteArray(event.payload().orElseThrow()))
                .build();
    }

    private static OutboxRow row(long sequence, String key) {
        return row(sequence, key, Instant.now());
    }

    private static OutboxRow row(long sequence, String key, Instant createdAt) {
        OutboxEvent event = OutboxEvent.to("charges")
                .eventId(new UUID(7, sequence))
                .key(key)
                .payload("body " + sequence)
                .build();
        return new OutboxRow(sequence, event, 0, 0, Duration.ZERO, createdAt);
    }

    private void publish(OutboxRow row) {
        CompletableFuture<PublishOutcome> outcome = new CompletableFuture<>();
        outcomes.put(row.sequence(), outcome);
        publisher.publish(row, (sent, answer) -> {
            order.add(sent.sequence());
            assertThat(outcome.complete(answer)).as("told once").isTrue();
        });
    }

    private PublishOutcome outcome(long sequence) {
        CompletableFuture<PublishOutcome> outcome = Objects.requireNonNull(outcomes.get(sequence));
        await().atMost(SOON).until(outcome::isDone);
        return outcome.join();
    }

    private void assertFailed(long sequence, Kind kind, String message) {
        assertThat(outcome(sequence)).isInstanceOfSatisfying(PublishOutcome.Failed.class, failed -> {
            assertThat(failed.kind()).isEqualTo(kind);
            assertThat(failed.cause()).hasMessageContaining(message);
        });
    }

    private void assertPublished(long sequence) {
        assertThat(outcome(sequence)).isInstanceOf(PublishOutcome.Published.class);
    }

    @Test
    void publish_answerLostAfterTheEffect_isRepeatedUnderTheEventId() {
        provider.then(Provider.actThenDrop());
        publish(row(1, "k"));
        assertPublished(1);
        assertThat(provider.effects).hasValue(1);
        assertThat(provider.received).hasSize(2).allSatisfy(request -> {
            assertThat(request.keys()).containsExactly(new UUID(7, 1).toString());
            assertThat(request.body()).isEqualTo("body 1");
        });
    }

    /** What a relay does that was killed between the send and the mark. */
    @Test
    void publish_sameEventByAnotherPublisher_hasOneEffect() {
        publish(row(1, "k"));
        assertPublished(1);
        publisher.close();
        publisher = publisher(16, this::post);
        publish(row(1, "k"));
        assertPublished(1);
        assertThat(provider.received).hasSize(2);
        assertThat(provider.effects).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "301, TOPIC", "400, RECORD", "401, TOPIC", "403, TOPIC", "404, RECORD", "407, TOPIC", "408, TOPIC",
                "409, RECORD",
        "422, RECORD", "425, TOPIC", "429, TOPIC", "500, RECORD", "501, RECORD", "502, TOPIC", "503, TOPIC",
                "504, TOPIC"
    })
    void publish_answerOfEachKind_saysWhoIsToBlame(int status, Kind kind) {
        for (int attempt = 0; attempt < 3; attempt++) {
            provider.then(Provider.status(status));
        }
        publish(row(1, "k"));
        assertFailed(1, kind, "the answer was " + status);
    }

    @Test
    void publish_noServer_isNotTheEventsFault() {
        provider.close();
        publish(row(1, "k"));
        assertFailed(1, Kind.TOPIC, "no connection");
    }

    @Test
    void publish_keyMayBeForgotten_isNotSent() {
        publish(row(1, "k", Instant.now().minus(RETENTION)));
        assertFailed(1, Kind.RECORD, "may have forgotten its key");
        assertThat(provider.received).isEmpty();
    }

    @Test
    void publish_requestCannotBeMade_isTheEventsFaultAtOnce() {
        publisher = publisher(1, event -> {
            throw new IllegalStateException("no address for it");
        });
        publish(row(1, "k"));
        assertThat(outcomes.get(1L)).isDone();
        assertFailed(1, Kind.RECORD, "no address for it");
        publisher = publisher(1, event -> {
            throw new StackOverflowError("nested too deep");
        });
        publish(row(5, "k"));
        assertThat(outcomes.get(5L)).isDone();
        assertFailed(5, Kind.RECORD, "nested too deep");
        publisher = publisher(
                1, event -> HttpRequest.newBuilder(provider.uri("/")).GET().build());
        publish(row(2, "k"));
        assertThat(outcomes.get(2L)).isDone();
        assertFailed(2, Kind.RECORD, "A GET carries no key");
        publisher = publisher(
                1,
                event -> HttpRequest.newBuilder(provider.uri("/"))
                        .header("Idempotency-Key", "another")
                        .POST(BodyPublishers.noBody())
                        .build());
        publish(row(3, "k"));
        assertThat(outcomes.get(3L)).isDone();
        assertFailed(3, Kind.RECORD, "another key");
        publisher = publisher(
                1,
                event -> HttpRequest.newBuilder(provider.uri("/"))
                        .POST(BodyPublishers.ofByteArray(new byte[1001]))
                        .build());
        publish(row(4, "k"));
        assertThat(outcomes.get(4L)).isDone();
        assertFailed(4, Kind.RECORD, "more than 1000 bytes");
        assertThat(provider.received).isEmpty();
    }

    /** As of a machine that gives no more threads. */
    @Test
    void publish_clientThrowsAnError_placeAndKeyAreFree() {
        publisher = publisher(
                1,
                event -> HttpRequest.newBuilder(provider.uri("/"))
                        .POST(
                                event.payload()
                                                .filter(payload -> payload[5] == '1')
                                                .isPresent()
                                        ? BodyPublishers.fromPublisher(subscriber -> {
                                            throw new StackOverflowError("no more room");
                                        })
                                        : BodyPublishers.noBody())
                        .build());
        publish(row(1, "k"));
        assertFailed(1, Kind.TOPIC, "no more room");
        publish(row(2, "k"));
        assertPublished(2);
    }

    @Test
    void publish_sameKey_oneAfterTheOther_othersBeside() {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.act(p, exchange, request);
        });
        publish(row(1, "k"));
        gate.awaitReached(SOON);
        publish(row(2, "k"));
        publish(row(3, "other"));
        assertPublished(3);
        assertThat(outcomes.get(2L)).isNotDone();
        gate.open();
        assertPublished(2);
        assertThat(order).containsExactly(3L, 1L, 2L);
    }

    @Test
    void publish_earlierOfItsKeyFailed_isNotSent() {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.status(400).take(p, exchange, request);
        });
        publish(row(1, "k"));
        gate.awaitReached(SOON);
        publish(row(2, "k"));
        publish(row(3, "k"));
        gate.open();
        assertFailed(1, Kind.RECORD, "400");
        assertFailed(2, Kind.TOPIC, "an earlier event of its key failed");
        assertFailed(3, Kind.TOPIC, "an earlier event of its key failed");
        assertThat(provider.received).hasSize(1);
        publish(row(4, "k"));
        assertPublished(4);
    }

    /** The relay knows only then that it has to hold the key's later events back. */
    @Test
    void publish_whileTheFailureOfItsKeyIsBeingTold_isNotSent() {
        provider.then(Provider.status(400));
        CompletableFuture<Void> told = new CompletableFuture<>();
        publisher.publish(row(1, "k"), (row, answer) -> {
            publish(row(2, "k"));
            told.complete(null);
        });
        await().atMost(SOON).until(told::isDone);
        assertFailed(2, Kind.TOPIC, "an earlier event of its key failed");
        publish(row(3, "other"));
        assertPublished(3);
        assertThat(provider.received).extracting("body").containsExactly("body 1", "body 3");
    }

    @Test
    void publish_placesAreTaken_waitsNoLongerThanTheBound_andIsNotOvertaken() {
        publisher = publisher(1, this::post);
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.act(p, exchange, request);
        });
        publish(row(1, "k"));
        gate.awaitReached(SOON);
        publish(row(2, "late"));
        nanos.addAndGet(Duration.ofSeconds(10).toNanos() + 1);
        publish(row(3, "late"));
        publish(row(4, "in time"));
        gate.open();
        assertPublished(1);
        assertFailed(2, Kind.TOPIC, "took too long");
        assertFailed(3, Kind.TOPIC, "took too long");
        assertPublished(4);
        assertThat(provider.effects).hasValue(2);
    }

    /** Each ends before the call of the one before has returned. */
    @Test
    void publish_manyThatEndAtOnce_doNotPileUpOnTheStack() {
        publisher = publisher(1, this::post);
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.act(p, exchange, request);
        });
        publish(row(1, "k"));
        gate.awaitReached(SOON);
        Instant forgotten = Instant.now().minus(RETENTION);
        for (long sequence = 2; sequence <= 20_000; sequence++) {
            publish(row(sequence, "k" + sequence, forgotten));
        }
        gate.open();
        assertFailed(20_000, Kind.RECORD, "may have forgotten its key");
        assertThat(order).hasSize(20_000);
    }

    @Test
    void close_answersWhatWaits_andAwaitsWhatIsUnderWay() {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.act(p, exchange, request);
        });
        publish(row(1, "k"));
        gate.awaitReached(SOON);
        publish(row(2, "k"));
        // Not in the common pool: with two processors or fewer it has one thread from JDK 25 on, and the client needs
        // it.
        CompletableFuture<Void> closing =
                CompletableFuture.runAsync(publisher::close, command -> new Thread(command).start());
        assertFailed(2, Kind.TOPIC, "the publisher is closing");
        assertThat(closing).isNotDone();
        gate.open();
        closing.join();
        assertThat(outcomes.get(1L)).isDone();
        assertPublished(1);
        publish(row(3, "k"));
        assertFailed(3, Kind.TOPIC, "the publisher is closed");
    }

    @Test
    void deliveryTimeout_holdsTheQueueAndTheCall() {
        assertThat(publisher.deliveryTimeout()).isEqualTo(Duration.ofSeconds(10 + 20 + 10));
    }

    @Test
    void builder_outOfRange_namesOptionAndRange() {
        HttpOutboxPublisher.Builder builder = HttpOutboxPublisher.builder(client, this::post);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.maxConcurrent(0))
                .withMessage("maxConcurrent must be between 1 and 10,000, but is 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.longestQueue(Duration.ZERO))
                .withMessage("longestQueue must be between 10 ms and 24 h, but is PT0S");
    }
}
