package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.shutdown.GracefulShutdown;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The bodies of a call: the request's, which is the same in every attempt, and the answer's. */
class CallBodyTest extends ClientFixture {
    @Test
    void bodyThatCanBeReadOnce_isSnapshotted() throws Exception {
        AtomicBoolean read = new AtomicBoolean();
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .POST(BodyPublishers.ofInputStream(() -> {
                    assertThat(read.getAndSet(true)).isFalse();
                    return new ByteArrayInputStream("amount=10".getBytes(StandardCharsets.UTF_8));
                }))
                .build();
        provider.then(Provider.actThenDrop());
        assertAnswered(client.send(request, KEY, BodyHandlers.ofString()), 201, 2);
        assertOneKeyAndEqualBytes(2);
    }

    @Test
    void arrayChangedAfterwards_changesNothing() throws Exception {
        byte[] body = "amount=10".getBytes(StandardCharsets.UTF_8);
        provider.then((p, exchange, request) -> {
            body[7] = '9';
            exchange.close();
        });
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        assertAnswered(client.send(request, KEY, BodyHandlers.ofString()), 201, 2);
        assertOneKeyAndEqualBytes(2);
    }

    @Test
    void bodyTooLarge_isRefused_nothingSent() {
        use(quick().maxBodyBytes(8));
        assertThatIllegalArgumentException().isThrownBy(this::post).withMessageContaining("maxBodyBytes");
        assertThat(provider.received).isEmpty();
    }

    @Test
    void bodyUnreadable_isNotSent() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .POST(BodyPublishers.ofInputStream(() -> {
                    InputStream gone = InputStream.nullInputStream();
                    try {
                        gone.close();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return gone;
                }))
                .build();
        assertThat(client.send(request, KEY, BodyHandlers.ofString()))
                .isInstanceOfSatisfying(
                        CallOutcome.NotSent.class,
                        notSent -> assertThat(notSent.reason()).isEqualTo(GiveUp.UNREADABLE_BODY));
        assertThat(provider.received).isEmpty();
    }

    @Test
    void emptyBody_staysEmpty() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .POST(BodyPublishers.noBody())
                .build();
        provider.then(Provider.actThenDrop());
        assertAnswered(client.send(request, KEY, BodyHandlers.ofString()), 201, 2);
        assertThat(provider.received).extracting(Provider.Received::body).containsOnly("");
    }

    @Test
    void bodyThatThrowsWhenAskedFor_isNotSent_andLeavesNothingInFlight() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        use(quick().shutdown(shutdown));
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .POST(BodyPublishers.fromPublisher(subscriber -> {
                    throw new IllegalStateException("asked for by the test");
                }))
                .build();
        assertThat(client.send(request, KEY, BodyHandlers.ofString()))
                .isInstanceOfSatisfying(
                        CallOutcome.NotSent.class,
                        notSent -> assertThat(notSent.reason()).isEqualTo(GiveUp.UNREADABLE_BODY));
        assertThat(shutdown.inFlight().active()).isZero();
    }

    @Test
    void handlerThatCannotReadTheAnswer_isUnknown_notRepeated() throws Exception {
        CallOutcome<String> outcome = client.<String>send(
                request(),
                KEY,
                info -> BodySubscribers.mapping(BodySubscribers.ofString(StandardCharsets.UTF_8), text -> {
                    throw new IllegalStateException("no such shape");
                }));
        assertUnknown(outcome, GiveUp.UNREADABLE_ANSWER, 1);
    }

    @Test
    void handlerSeesAnswersOnly_soThatStreamsOfOthersDoNotLeak() throws Exception {
        provider.then(Provider.status(503)).then(Provider.status(500));
        AtomicInteger handled = new AtomicInteger();
        CallOutcome<InputStream> outcome = client.send(request(), KEY, info -> {
            handled.incrementAndGet();
            return BodySubscribers.ofInputStream();
        });
        assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
        try (InputStream body =
                ((CallOutcome.Answered<InputStream>) outcome).response().body()) {
            assertThat(body.readAllBytes()).asString(StandardCharsets.UTF_8).isEqualTo("charged");
        }
        assertThat(handled).hasValue(1);
    }

    @Test
    void bodyDiscarded_isNull() throws Exception {
        CallOutcome<Void> outcome = client.send(request(), KEY, BodyHandlers.discarding());
        assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
        assertThat(((CallOutcome.Answered<Void>) outcome).response().body()).isNull();
    }
}
