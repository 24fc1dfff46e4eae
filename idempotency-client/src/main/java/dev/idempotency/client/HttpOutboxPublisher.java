package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers outbox events as HTTP calls, each under its event id as the idempotency key, so that a call that was decided in
 * a transaction survives a crash; applications give it to a relay.
 *
 * <p>A relay that was killed sends its events again, with the same keys, and the other side answers them as repeats, for
 * as long as it remembers keys: an event that was appended so long ago that its key may be forgotten is not sent any more
 * and fails, with a message that says so.
 *
 * <p>What an answer means to the relay:
 *
 * <table>
 * <caption>Answers</caption>
 * <tr><th>answer, after the client's own attempts</th><th>outcome</th></tr>
 * <tr><td>2xx</td><td>published</td></tr>
 * <tr><td>401, 403, 407, 3xx</td><td>failure of the topic: credentials or address are wrong for all</td></tr>
 * <tr><td>other 4xx, 500, 501; a request that cannot be made; a key too old</td><td>failure of the event</td></tr>
 * <tr><td>408, 425, 429, other 5xx; no answer; no connection</td><td>failure of the topic: the other side is down</td></tr>
 * </table>
 *
 * <p>So all events of a topic have to go to one other side: a topic whose calls go to an address per customer would wait for
 * the one customer who is down.
 *
 * <p>Events of one ordering key (else of one key) are sent one after the other; when one fails, those behind it that have
 * been handed over already are not sent. Others go side by side, up to {@link Builder#maxConcurrent}.
 *
 * <p>Safe for use by many threads. It starts no thread of its own and does not close the client.
 */
public final class HttpOutboxPublisher implements OutboxPublisher {
    private static final Logger logger = LoggerFactory.getLogger(HttpOutboxPublisher.class);

    private final IdempotentHttpClient client;
    private final Function<? super OutboxEvent, HttpRequest> requests;
    private final Duration longestQueue;
    private final Duration longestCall;
    private final LongSupplier nanoTime;
    private final DeliveryQueue queue;

    private HttpOutboxPublisher(Builder builder) {
        this.client = builder.client;
        this.requests = builder.requests;
        this.longestQueue = builder.longestQueue;
        this.longestCall = client.longestCall();
        this.nanoTime = builder.nanoTime;
        this.queue = new DeliveryQueue(builder.maxConcurrent, longestQueue, nanoTime, this::send);
    }

    /**
     * Returns a builder.
     *
     * @param client sends the calls, with its own attempts and back-off
     * @param requests makes the request of an event, without the key; called once per delivery, on the relay's thread;
     *     an exception is a failure of the event
     * @return the builder
     */
    public static Builder builder(IdempotentHttpClient client, Function<? super OutboxEvent, HttpRequest> requests) {
        return new Builder(client, requests);
    }

    /**
     * Returns a publisher with the default of every option.
     *
     * @param client sends the calls
     * @param requests makes the request of an event, as in {@link #builder}
     * @return the publisher
     */
    public static HttpOutboxPublisher of(
            IdempotentHttpClient client, Function<? super OutboxEvent, HttpRequest> requests) {
        return builder(client, requests).build();
    }

    @Override
    public void publish(OutboxRow row, PublishCallback callback) {
        HttpRequest request;
        try {
            request = client.keyed(requests.apply(row.event()), keyOf(row));
        } catch (RuntimeException | Error unsuitable) {
            // An error too, as of a content that is nested too deep: thrown on, it would end the relay's thread each
            // time.
            callback.completed(row, new PublishOutcome.Failed(PublishOutcome.Kind.RECORD, unsuitable));
            return;
        }
        queue.add(new Delivery(row, request, callback, nanoTime.getAsLong()));
    }

    /** Returns how long an event may wait for its turn, and then for its answer. */
    @Override
    public Duration deliveryTimeout() {
        return longestQueue.plus(longestCall);
    }

    /** Does nothing: no answer is {@link PublishOutcome.Kind#FATAL}. */
    @Override
    public void recover() {
        logger.debug("Nothing to recover: the client has no state that could be lost");
    }

    /** Answers what is not under way yet, and waits for the rest, at most {@link #deliveryTimeout()}. */
    @Override
    public void close() {
        queue.close(deliveryTimeout());
    }

    private void send(Delivery delivery) {
        OutboxRow row = delivery.row();
        try {
            CompletableFuture<?> unused = client.sendAsync(
                            delivery.request(), keyOf(row), row.createdAt(), BodyHandlers.discarding())
                    .whenComplete((outcome, failure) -> queue.ended(delivery, outcomeOf(outcome, failure)));
        } catch (RuntimeException | Error notSent) {
            // An error too: its place and its lane would be taken for ever.
            queue.ended(delivery, new PublishOutcome.Failed(PublishOutcome.Kind.TOPIC, notSent));
        }
    }

    private static IdempotencyKey keyOf(OutboxRow row) {
        return IdempotencyKey.of(row.eventId().toString());
    }

    private static PublishOutcome outcomeOf(@Nullable CallOutcome<?> outcome, @Nullable Throwable failure) {
        if (outcome instanceof CallOutcome.Answered<?> answered) {
            return outcomeOf(answered.response().statusCode());
        }
        if (outcome instanceof CallOutcome.KeyExpired<?> expired) {
            return failed(
                    PublishOutcome.Kind.RECORD,
                    "the event is " + expired.age() + " old, and the other side may have forgotten its key: find out"
                            + " there whether it has arrived, then requeue or discard it");
        }
        if (outcome instanceof CallOutcome.Unknown<?> unknown) {
            return unknown.failure() instanceof CallFailure.Refused refused
                    ? outcomeOf(refused.status())
                    : failed(PublishOutcome.Kind.TOPIC, "no answer: " + unknown.failure());
        }
        if (outcome instanceof CallOutcome.NotSent<?> notSent) {
            return failed(PublishOutcome.Kind.TOPIC, "no connection: " + notSent.cause());
        }
        Throwable cause = failure == null ? new IOException("The call ended without an outcome") : failure;
        return new PublishOutcome.Failed(PublishOutcome.Kind.RECORD, cause);
    }

    private static PublishOutcome outcomeOf(int status) {
        if (status >= 200 && status < 300) {
            return new PublishOutcome.Published();
        }
        PublishOutcome.Kind kind = switch (status) {
            case 401, 403, 407, 408, 425, 429 -> PublishOutcome.Kind.TOPIC;
            case 500, 501 -> PublishOutcome.Kind.RECORD;
            default -> status >= 400 && status < 500 ? PublishOutcome.Kind.RECORD : PublishOutcome.Kind.TOPIC;
        };
        return failed(kind, "the answer was " + status);
    }

    private static PublishOutcome failed(PublishOutcome.Kind kind, String what) {
        return new PublishOutcome.Failed(kind, new IOException("Not delivered: " + what));
    }

    /** Sets the options of a publisher; each has a default. */
    public static final class Builder {
        private static final Duration SHORTEST = Duration.ofMillis(10);
        private static final Duration LONGEST = Duration.ofHours(24);

        private final IdempotentHttpClient client;
        private final Function<? super OutboxEvent, HttpRequest> requests;
        private int maxConcurrent = 16;
        private Duration longestQueue = Duration.ofSeconds(10);
        private LongSupplier nanoTime = System::nanoTime;

        private Builder(IdempotentHttpClient client, Function<? super OutboxEvent, HttpRequest> requests) {
            this.client = Objects.requireNonNull(client, "client");
            this.requests = Objects.requireNonNull(requests, "requests");
        }

        /**
         * Bounds how many calls are under way at the same time; 16 by default.
         *
         * @param calls 1 to 10,000
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder maxConcurrent(int calls) {
            if (calls < 1 || calls > 10_000) {
                throw new IllegalArgumentException("maxConcurrent must be between 1 and 10,000, but is " + calls);
            }
            this.maxConcurrent = calls;
            return this;
        }

        /**
         * Bounds how long an event that was handed over waits for its turn; one that has waited longer is given back to the
         * relay, which sends it later. 10 s by default.
         *
         * @param duration 10 ms to 24 h
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder longestQueue(Duration duration) {
            if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("longestQueue must be between 10 ms and 24 h, but is " + duration);
            }
            this.longestQueue = duration;
            return this;
        }

        /** Replaces the monotonic clock, for tests of this package. */
        Builder nanoTime(LongSupplier clock) {
            this.nanoTime = clock;
            return this;
        }

        /**
         * Returns the publisher.
         *
         * @return a new publisher
         */
        public HttpOutboxPublisher build() {
            return new HttpOutboxPublisher(this);
        }
    }
}
