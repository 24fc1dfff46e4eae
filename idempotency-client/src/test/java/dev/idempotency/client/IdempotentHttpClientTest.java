package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.TcpProxy;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotentHttpClientTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final IdempotencyKey KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");
    private static final ProviderFormat FORMAT = ProviderFormat.of("Idempotency-Key", Duration.ofHours(24));

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Provider provider = new Provider();
    private IdempotentHttpClient client = quick().build();

    private IdempotentHttpClient.Builder quick() {
        return quick(FORMAT);
    }

    private IdempotentHttpClient.Builder quick(ProviderFormat format) {
        return IdempotentHttpClient.builder(http, format).backOff(Duration.ofMillis(10), Duration.ofMillis(20));
    }

    private void use(IdempotentHttpClient.Builder builder) {
        client.close();
        client = builder.build();
    }

    @AfterEach
    void stop() {
        client.close();
        provider.close();
    }

    @Test
    void send_first_carriesTheKeyAndAnswers() throws Exception {
        CallOutcome<String> outcome = post();
        assertAnswered(outcome, 201, 1);
        assertOneKeyAndEqualBytes(1);
    }

    @Test
    void answerDroppedAfterActing_sameKeyAndBytes_oneEffect() throws Exception {
        provider.then(Provider.actThenDrop()).then(Provider.actThenDrop());
        assertAnswered(post(), 201, 3);
        assertOneKeyAndEqualBytes(3);
        assertThat(provider.effects).hasValue(1);
    }

    @Test
    void bodyOfAnswerCut_asksAgain() throws Exception {
        provider.then(Provider.actThenCutBody());
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(2);
        assertThat(provider.effects).hasValue(1);
    }

    @Test
    void conflictInProgress_thenCreated() throws Exception {
        provider.then(Provider.status(409, "Retry-After", "0")).then(Provider.status(409, "Retry-After", "0"));
        assertAnswered(post(), 201, 3);
        assertOneKeyAndEqualBytes(3);
    }

    @Test
    void conflictWithoutRetryAfter_isTheAnswer() throws Exception {
        provider.then(Provider.status(409));
        assertAnswered(post(), 409, 1);
    }

    @Test
    void conflict_providerThatMeansInProgress_isRepeated() throws Exception {
        use(quick(FORMAT.withConflict(ConflictMeaning.IN_PROGRESS)));
        provider.then(Provider.status(409));
        assertAnswered(post(), 201, 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504})
    void statusInDoubt_isRepeated(int status) throws Exception {
        provider.then(Provider.status(status));
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 303, 400, 401, 403, 404, 410, 422})
    void definitiveStatus_isTheAnswer(int status) throws Exception {
        provider.then(Provider.status(status));
        assertAnswered(post(), status, 1);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void retryAfterSeconds_isKept() throws Exception {
        provider.then(Provider.status(503, "Retry-After", "1"));
        long start = System.nanoTime();
        assertAnswered(post(), 201, 2);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void retryAfterDate_isKept_byTheProvidersClock() throws Exception {
        DateTimeFormatter httpDate = DateTimeFormatter.RFC_1123_DATE_TIME.withZone(ZoneOffset.UTC);
        Instant wrong = Instant.parse("2001-01-01T00:00:10Z");
        provider.then((p, exchange, request) -> {
            exchange.getResponseHeaders().set("Retry-After", httpDate.format(wrong.plusSeconds(3000)));
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        use(quick().longestRetryAfter(Duration.ofSeconds(5)));
        // The server's Date is today, so a date of 2001 is past: the call goes on at once.
        assertAnswered(post(), 201, 2);
    }

    @Test
    void retryAfterTooLong_givesUpAtOnceAndSaysHowLong() throws Exception {
        provider.then(Provider.status(503, "Retry-After", "3600"));
        CallOutcome.Unknown<String> unknown = assertUnknown(post(), GiveUp.RETRY_AFTER, 1);
        assertThat(unknown.retryAfter()).isEqualTo(Duration.ofHours(1));
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void attemptsUsedUp_isUnknown_withTheLastAnswer() throws Exception {
        use(quick().maxAttempts(3));
        IntStream.range(0, 3).forEach(i -> provider.then(Provider.status(500 + i)));
        CallOutcome.Unknown<String> unknown = assertUnknown(post(), GiveUp.ATTEMPTS, 3);
        assertThat(unknown.failure()).isInstanceOfSatisfying(CallFailure.Refused.class, refused -> {
            assertThat(refused.status()).isEqualTo(502);
            assertThat(new String(refused.body(), StandardCharsets.UTF_8)).isEqualTo("status 502");
            assertThat(refused.toString()).doesNotContain("status 502");
        });
        assertOneKeyAndEqualBytes(3);
    }

    @Test
    void totalTimeUsedUp_isUnknown() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        use(quick().totalTime(Duration.ofMinutes(1))
                .nanoTime(() -> TimeUnit.SECONDS.toNanos(40L * calls.getAndIncrement())));
        IntStream.range(0, 5).forEach(i -> provider.then(Provider.status(500)));
        CallOutcome<String> outcome = post();
        assertThat(outcome).isInstanceOf(CallOutcome.Unknown.class);
        assertThat(((CallOutcome.Unknown<String>) outcome).reason()).isEqualTo(GiveUp.TIME);
    }

    @Test
    void providerForbidsRetry_isUnknownAtOnce() throws Exception {
        use(quick(ProviderFormats.stripe()));
        provider.then(Provider.status(500, "Stripe-Should-Retry", "false"));
        assertUnknown(post(), GiveUp.PROVIDER, 1);
    }

    @Test
    void providerAsksForRetry_isRepeated_butNeverA400() throws Exception {
        use(quick(ProviderFormats.stripe()));
        provider.then(Provider.status(404, "Stripe-Should-Retry", "true"))
                .then(Provider.status(400, "Stripe-Should-Retry", "true"));
        assertAnswered(post(), 400, 2);
    }

    @Test
    void nothingListens_isNotSent() throws Exception {
        int port = unusedPort();
        CallOutcome<String> outcome =
                client.send(request(Provider.uri(port, "/charges")), KEY, BodyHandlers.ofString());
        assertThat(outcome).isInstanceOfSatisfying(CallOutcome.NotSent.class, notSent -> {
            assertThat(notSent.attempts()).isEqualTo(5);
            assertThat(notSent.reason()).isEqualTo(GiveUp.ATTEMPTS);
        });
    }

    @Test
    void refusedThenReachable_isAnswered() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            proxy.refuse();
            use(quick().maxAttempts(100));
            CompletableFuture<CallOutcome<String>> running =
                    client.sendAsync(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            proxy.resume();
            CallOutcome<String> outcome = running.get(60, TimeUnit.SECONDS);
            assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
            assertOneKeyAndEqualBytes(1);
        }
    }

    @Test
    void onceSentThenRefused_isUnknown() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            provider.then((p, exchange, request) -> {
                proxy.refuse();
                exchange.close();
            });
            CallOutcome<String> outcome =
                    client.send(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            assertUnknown(outcome, GiveUp.ATTEMPTS, 5);
        }
    }

    @Test
    void answerLostOnTheWire_sameKey_oneEffect() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(provider.port())) {
            proxy.loseAnswerTo("POST /charges");
            CallOutcome<String> outcome =
                    client.send(request(Provider.uri(proxy.port(), "/charges")), KEY, BodyHandlers.ofString());
            assertAnswered(outcome, 201, 2);
            assertOneKeyAndEqualBytes(2);
            assertThat(provider.effects).hasValue(1);
        }
    }

    @Test
    void attemptTooSlow_isCancelledAndRepeated() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            exchange.close();
        });
        use(quick().attemptTimeout(Duration.ofMillis(500)));
        assertAnswered(post(), 201, 2);
        gate.open();
    }

    @Test
    void bodyOfAnswerStalls_isCancelledAndRepeated() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            exchange.sendResponseHeaders(201, 100);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            gate.pass();
            exchange.close();
        });
        use(quick().attemptTimeout(Duration.ofMillis(500)));
        assertAnswered(post(), 201, 2);
        gate.open();
    }

    @Test
    void callersHeader_isKept_asItIs() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                .header("idempotency-key", "my own")
                .build();
        provider.then(Provider.actThenDrop());
        assertAnswered(client.send(request, BodyHandlers.ofString()), 201, 2);
        assertThat(provider.received).extracting(Provider.Received::keys).containsOnly(List.of("my own"));
    }

    @Test
    void callersHeader_otherThanTheKey_isRefused_nothingSent() {
        HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                .header("Idempotency-Key", "another")
                .build();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.send(request, KEY, BodyHandlers.ofString()))
                .withMessageNotContaining("another-");
        assertThat(provider.received).isEmpty();
    }

    @Test
    void noKey_unsafeMethod_isRefused_nothingDrawn() {
        assertThatIllegalArgumentException().isThrownBy(() -> client.send(request(), BodyHandlers.ofString()));
        assertThat(provider.received).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS"})
    void safeMethod_getsNoKey(String method) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(provider.uri("/charges"))
                .method(method, BodyPublishers.noBody())
                .build();
        provider.then(Provider.status(200));
        client.send(request, KEY, BodyHandlers.discarding());
        assertThat(provider.received).singleElement().satisfies(received -> {
            assertThat(received.keys()).isEmpty();
            assertThat(received.method()).isEqualTo(method);
        });
    }

    @Test
    void quotedForm_andOtherHeader() throws Exception {
        use(quick(ProviderFormats.draft(Duration.ofHours(1))));
        post();
        assertThat(provider.received.get(0).keys()).containsExactly("\"" + KEY.value() + "\"");
    }

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
    void keyOld_isExpired_nothingSent() throws Exception {
        CallOutcome<String> outcome =
                client.send(request(), KEY, Instant.now().minus(Duration.ofHours(24)), BodyHandlers.ofString());
        assertThat(outcome).isInstanceOfSatisfying(CallOutcome.KeyExpired.class, expired -> {
            assertThat(expired.attempts()).isZero();
            assertThat(expired.age()).isGreaterThanOrEqualTo(Duration.ofHours(24));
        });
        assertThat(provider.received).isEmpty();
    }

    @Test
    void keyNearItsEnd_noAttemptThatCouldOutliveIt() throws Exception {
        Duration retention = Duration.ofHours(24);
        Duration justUsable = retention.minus(Duration.ofMinutes(10)).minus(Duration.ofSeconds(30));
        assertAnswered(
                client.send(request(), KEY, Instant.now().minus(justUsable).plusSeconds(60), BodyHandlers.ofString()),
                201,
                1);
        assertThat(client.send(request(), KEY, Instant.now().minus(justUsable), BodyHandlers.ofString()))
                .isInstanceOf(CallOutcome.KeyExpired.class);
    }

    @Test
    void keyExpiresDuringTheCall_noFurtherAttempt_andNoWaitForOne() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        use(quick(ProviderFormats.qonto())
                .backOff(Duration.ofHours(1), Duration.ofHours(1))
                .totalTime(Duration.ofHours(5))
                .nanoTime(() -> TimeUnit.MINUTES.toNanos(calls.getAndIncrement())));
        provider.then(Provider.status(500));
        CallOutcome<String> outcome =
                client.sendAsync(request(), KEY, BodyHandlers.ofString()).get(60, TimeUnit.SECONDS);
        assertThat(outcome).isInstanceOf(CallOutcome.KeyExpired.class);
        assertThat(outcome.attempts()).isEqualTo(1);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void redirect_notFollowedByDefault() throws Exception {
        provider.then(Provider.status(307, "Location", "/other"));
        assertAnswered(post(), 307, 1);
    }

    @Test
    void redirect_sameOrigin_keepsKeyAndBody() throws Exception {
        use(quick().redirects(Redirects.SAME_ORIGIN));
        provider.then(Provider.status(308, "Location", "/other")).then(Provider.actThenDrop());
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(3);
        assertThat(provider.received)
                .extracting(received -> received.uri().getPath())
                .containsExactly("/charges", "/other", "/charges");
    }

    @Test
    void redirect_otherOrigin_isTheAnswerUnlessAllowed() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.SAME_ORIGIN));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            assertAnswered(post(), 307, 1);
            assertThat(other.received).isEmpty();
        }
    }

    @Test
    void redirect_otherOriginAllowed_losesKeyAndCredentials_isNeverRepeated() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then(Provider.actThenDrop());
            HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                    .header("Authorization", "Bearer secret")
                    .header("Cookie", "a=b")
                    .header("X-Kept", "yes")
                    .build();
            CallOutcome<String> outcome = client.send(request, KEY, BodyHandlers.ofString());
            assertUnknown(outcome, GiveUp.REDIRECTED, 1);
            assertThat(other.received).singleElement().satisfies(received -> {
                assertThat(received.keys()).isEmpty();
                assertThat(received.headers().containsKey("Authorization")).isFalse();
                assertThat(received.headers().containsKey("Cookie")).isFalse();
                assertThat(received.headers().getFirst("X-Kept")).isEqualTo("yes");
                assertThat(received.body()).isEqualTo("amount=10");
            });
        }
    }

    @Test
    void redirect_otherOriginTimesOut_isNeverRepeated() throws Exception {
        Gate gate = new Gate();
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE).attemptTimeout(Duration.ofSeconds(1)));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then((p, exchange, request) -> gate.pass());
            assertUnknown(post(), GiveUp.REDIRECTED, 1);
            gate.open();
            assertThat(other.received).hasSize(1);
        }
    }

    @Test
    void redirect_backHome_staysWithoutKey() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then(Provider.status(307, "Location", provider.uri("/home").toString()));
            assertAnswered(post(), 201, 1);
            assertThat(provider.received.get(1).keys()).isEmpty();
        }
    }

    @Test
    void redirect_endlessly_endsAsAnswer() throws Exception {
        use(quick().redirects(Redirects.SAME_ORIGIN));
        IntStream.range(0, 20).forEach(i -> provider.then(Provider.status(307, "Location", "/again")));
        assertAnswered(post(), 307, 1);
        assertThat(provider.received).hasSize(6);
    }

    @Test
    void httpClientThatFollowsRedirects_isRefused() {
        HttpClient following = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();
        assertThatIllegalArgumentException().isThrownBy(() -> IdempotentHttpClient.ofDefaults(following, FORMAT));
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

    @Test
    void interrupted_throws_noFurtherAttempt() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.status(500).take(p, exchange, request);
        });
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread caller = new Thread(() -> {
            try {
                post();
            } catch (InterruptedException expected) {
                interrupted.set(true);
            }
        });
        caller.start();
        gate.awaitReached(SOON);
        caller.interrupt();
        caller.join(SOON.toMillis());
        assertThat(interrupted).isTrue();
        gate.open();
        await().during(Duration.ofMillis(500)).until(() -> provider.received.size() == 1);
    }

    @Test
    void interruptedInBackOff_throwsAtOnce() throws Exception {
        use(quick().backOff(Duration.ofHours(1), Duration.ofHours(1)).totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        Thread caller = new Thread(() -> {
            try {
                post();
            } catch (InterruptedException expected) {
                Thread.currentThread().interrupt();
            }
        });
        caller.start();
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        caller.interrupt();
        caller.join(SOON.toMillis());
        assertThat(caller.isAlive()).isFalse();
    }

    @Test
    void cancelled_cancelsTheAttempt() throws Exception {
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> gate.pass());
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        gate.awaitReached(SOON);
        running.cancel(true);
        gate.open();
        assertThatThrownBy(() -> running.get(1, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void close_endsBackOff_andRefusesNewCalls() throws Exception {
        use(quick().backOff(Duration.ofHours(1), Duration.ofHours(1)).totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        client.close();
        client.close();
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.CLOSED, 1);
        assertThatIllegalStateException().isThrownBy(this::post);
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
    void shutdown_endsBackOffEarly() throws Exception {
        GracefulShutdown shutdown =
                GracefulShutdown.builder().grace(Duration.ofSeconds(60)).build();
        use(quick().shutdown(shutdown)
                .backOff(Duration.ofHours(1), Duration.ofHours(1))
                .totalTime(Duration.ofHours(24)));
        provider.then(Provider.status(500));
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        await().atMost(SOON).until(() -> provider.received.size() == 1);
        shutdown.shutdown(new Reason("test")).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.SHUTTING_DOWN, 1);
    }

    @Test
    void shutdown_callUnderWay_isWaitedFor_andNotRepeated() throws Exception {
        GracefulShutdown shutdown =
                GracefulShutdown.builder().grace(Duration.ofSeconds(60)).build();
        use(quick().shutdown(shutdown));
        Gate gate = new Gate();
        provider.then((p, exchange, request) -> {
            gate.pass();
            Provider.status(503).take(p, exchange, request);
        });
        CompletableFuture<CallOutcome<String>> running = client.sendAsync(request(), KEY, BodyHandlers.ofString());
        gate.awaitReached(SOON);
        CompletableFuture<?> ended = shutdown.shutdown(new Reason("test")).toCompletableFuture();
        assertThat(shutdown.inFlight().active()).isEqualTo(1);
        assertThat(ended.isDone()).isFalse();
        gate.open();
        assertUnknown(running.get(60, TimeUnit.SECONDS), GiveUp.SHUTTING_DOWN, 1);
        ended.get(60, TimeUnit.SECONDS);
        assertThat(provider.received).hasSize(1);
    }

    @Test
    void shutdownBegun_workInHandMayStillCall() throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        use(quick().shutdown(shutdown));
        shutdown.shutdown(new Reason("test"));
        assertAnswered(post(), 201, 1);
    }

    @Test
    void manyCallsAtOnce_nothingOfOneIsKeptForAnother() throws Exception {
        int number = 50;
        Set<String> failedOnce = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 10 * number)
                .forEach(i -> provider.then((p, exchange, request) -> {
                    if (failedOnce.add(request.keys().get(0))) {
                        Provider.actThenDrop().take(p, exchange, request);
                    } else {
                        Provider.act(p, exchange, request);
                    }
                }));
        List<CompletableFuture<CallOutcome<String>>> running = IntStream.range(0, number)
                .mapToObj(i -> client.sendAsync(
                        HttpRequest.newBuilder(provider.uri("/charges"))
                                .POST(BodyPublishers.ofString("n=" + i))
                                .build(),
                        IdempotencyKey.of("key-" + i),
                        BodyHandlers.ofString()))
                .toList();
        for (CompletableFuture<CallOutcome<String>> call : running) {
            assertThat(call.get(60, TimeUnit.SECONDS)).isInstanceOf(CallOutcome.Answered.class);
        }
        assertThat(provider.effects).hasValue(number);
        assertThat(provider.received)
                .allSatisfy(received -> assertThat(received.keys())
                        .isEqualTo(Collections.singletonList(
                                "key-" + received.body().substring(2))));
    }

    @Test
    void options_outOfRange_areNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().maxAttempts(0).build())
                .withMessageContaining("maxAttempts");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().attemptTimeout(Duration.ZERO).build())
                .withMessageContaining("attemptTimeout");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().totalTime(Duration.ofDays(2)).build())
                .withMessageContaining("totalTime");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick().backOff(Duration.ofSeconds(2), Duration.ofSeconds(1))
                        .build())
                .withMessageContaining("backOff");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quick(ProviderFormats.qonto())
                        .attemptTimeout(Duration.ofMinutes(29))
                        .build())
                .withMessageContaining("retention");
    }

    private HttpRequest request() {
        return request(provider.uri("/charges"));
    }

    private static HttpRequest request(URI uri) {
        return HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("amount=10"))
                .build();
    }

    private CallOutcome<String> post() throws InterruptedException {
        return client.send(request(), KEY, BodyHandlers.ofString());
    }

    private static void assertAnswered(CallOutcome<String> outcome, int status, int attempts) {
        assertThat(outcome).isInstanceOf(CallOutcome.Answered.class);
        assertThat(((CallOutcome.Answered<String>) outcome).response().statusCode())
                .isEqualTo(status);
        assertThat(outcome.attempts()).isEqualTo(attempts);
    }

    private static CallOutcome.Unknown<String> assertUnknown(CallOutcome<String> outcome, GiveUp reason, int attempts) {
        assertThat(outcome).isInstanceOf(CallOutcome.Unknown.class);
        CallOutcome.Unknown<String> unknown = (CallOutcome.Unknown<String>) outcome;
        assertThat(unknown.reason()).isEqualTo(reason);
        assertThat(unknown.attempts()).isEqualTo(attempts);
        return unknown;
    }

    private void assertOneKeyAndEqualBytes(int requests) {
        assertThat(provider.received).hasSize(requests).allSatisfy(received -> {
            assertThat(received.keys()).containsExactly(KEY.value());
            assertThat(received.body()).isEqualTo("amount=10");
        });
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
