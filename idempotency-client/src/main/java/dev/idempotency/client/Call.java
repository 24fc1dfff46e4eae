package dev.idempotency.client;

import io.github.resilience4j.core.IntervalFunction;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call with all its attempts: what was fixed before the first of them, and what has been learnt since.
 *
 * <p>The state says who may act: only whoever moves it out of {@code WAITING} begins an attempt or ends the call, so a
 * back-off that is ended by a shutdown is never followed by an attempt.
 */
final class Call<T extends @Nullable Object> {
    private static final Logger logger = LoggerFactory.getLogger(Call.class);

    private static final Set<String> NOT_FOR_OTHERS = Set.of("authorization", "proxy-authorization", "cookie");

    private enum State {
        WAITING,
        RUNNING,
        OVER
    }

    private final HttpClient http;
    private final CallSettings settings;
    private final ScheduledExecutorService timer;
    private final IntervalFunction backOff;
    private final Supplier<Optional<GiveUp>> ending;

    private final HttpRequest request;
    private final byte[] body;
    private final HttpResponse.BodyHandler<T> handler;
    private final boolean keyed;
    private final Duration ageAtStart;
    private final long startNanos;

    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private final CompletableFuture<CallOutcome<T>> result;
    private final AtomicInteger attempts;
    /** Set once an attempt may have reached the provider. */
    private volatile boolean sentSomething;
    /** Set before a request goes to another origin without the key: from then on nothing may be sent again. */
    private volatile boolean sentUnprotected;

    private volatile Duration retryAfter = Duration.ZERO;
    private volatile CallFailure lastFailure = new CallFailure.Broken(new IOException("No attempt was made"));
    private volatile @Nullable CompletableFuture<?> exchange;

    Call(
            HttpClient http,
            CallSettings settings,
            ScheduledExecutorService timer,
            IntervalFunction backOff,
            Supplier<Optional<GiveUp>> ending,
            HttpRequest request,
            byte[] body,
            HttpResponse.BodyHandler<T> handler,
            Instant firstUsedAt,
            AtomicInteger attempts,
            CompletableFuture<CallOutcome<T>> result) {
        this.http = http;
        this.settings = settings;
        this.timer = timer;
        this.backOff = backOff;
        this.ending = ending;
        this.request = request;
        this.body = body;
        this.handler = handler;
        this.attempts = attempts;
        this.result = result;
        this.keyed =
                request.headers().firstValue(settings.format().headerName()).isPresent();
        Duration age = Duration.between(firstUsedAt, settings.clock().instant());
        this.ageAtStart = age.isNegative() ? Duration.ZERO : age;
        this.sentSomething = settings.resentByTheJdk();
        this.startNanos = settings.nanoTime().getAsLong();
    }

    CompletableFuture<CallOutcome<T>> result() {
        return result;
    }

    /** Makes one attempt; never throws, since nobody would hear it on the timer's thread. */
    CompletionStage<Attempt<T>> attempt() {
        if (!state.compareAndSet(State.WAITING, State.RUNNING)) {
            return CompletableFuture.completedFuture(over(gaveUp(GiveUp.CLOSED)));
        }
        if (keyed && !isUsableAfter(Duration.ZERO)) {
            return CompletableFuture.completedFuture(over(expired()));
        }
        attempts.incrementAndGet();
        try {
            return send().handle(this::judge);
        } catch (RuntimeException refusedByTheClient) {
            return CompletableFuture.failedFuture(refusedByTheClient);
        }
    }

    /** Ends the call if it waits for its next attempt; one under way is left to its own end. */
    void endBackOff(GiveUp reason) {
        if (attempts.get() > 0 && state.compareAndSet(State.WAITING, State.OVER)) {
            result.complete(gaveUp(reason));
        }
    }

    /** Takes note that the retry library has ended. */
    void finish(@Nullable Attempt<T> last, @Nullable Throwable failure) {
        if (last instanceof Attempt.Over<T> over) {
            result.complete(over.outcome());
        } else if (last != null) {
            result.complete(gaveUp(GiveUp.ATTEMPTS));
        } else if (ending.get().isPresent()) {
            result.complete(gaveUp(ending.get().get()));
        } else {
            result.completeExceptionally(failure == null ? new IllegalStateException("No attempt") : failure);
        }
    }

    /** Stops everything, for a caller who does not want to know any more. */
    void cancel() {
        state.set(State.OVER);
        CompletableFuture<?> running = exchange;
        if (running != null) {
            running.cancel(true);
        }
    }

    private CompletableFuture<HttpResponse<Reception<T>>> send() {
        CompletableFuture<HttpResponse<Reception<T>>> whole = new CompletableFuture<>();
        Duration limit = settings.attemptTimeout();
        // The JDK's own timeout ends with the headers; a body that stalls would hang for ever.
        ScheduledFuture<?> alarm = timer.schedule(
                () -> {
                    if (whole.completeExceptionally(
                            new HttpTimeoutException("The attempt took longer than attemptTimeout, " + limit))) {
                        cancelExchange();
                    }
                },
                limit.toMillis(),
                TimeUnit.MILLISECONDS);
        hop(whole, request.uri(), 0, keyed);
        return whole.whenComplete((response, failure) -> alarm.cancel(false));
    }

    private void cancelExchange() {
        CompletableFuture<?> running = exchange;
        if (running != null) {
            running.cancel(true);
        }
    }

    private void hop(CompletableFuture<HttpResponse<Reception<T>>> whole, URI uri, int hops, boolean withKey) {
        boolean foreign = keyed && !withKey;
        if (foreign) {
            sentUnprotected = true;
        }
        CompletableFuture<HttpResponse<Reception<T>>> sent =
                http.sendAsync(requestFor(uri, foreign), Reception.handler(handler, info -> isAnswer(info, uri, hops)));
        exchange = sent;
        CompletableFuture<?> unused = sent.whenComplete((response, failure) -> {
            if (failure != null) {
                whole.completeExceptionally(unwrap(failure));
                return;
            }
            sentSomething = true;
            Optional<URI> target = settings.redirects().target(response.statusCode(), response.headers(), uri, hops);
            if (target.isEmpty()) {
                whole.complete(response);
            } else if (!whole.isDone()) {
                follow(whole, target.get(), hops + 1, withKey && isSameOrigin(target.get()));
            }
        });
    }

    private void follow(CompletableFuture<HttpResponse<Reception<T>>> whole, URI uri, int hops, boolean withKey) {
        try {
            hop(whole, uri, hops, withKey);
        } catch (RuntimeException refusedByTheClient) {
            whole.completeExceptionally(refusedByTheClient);
        }
    }

    private HttpRequest requestFor(URI uri, boolean foreign) {
        String keyHeader = settings.format().headerName().toLowerCase(Locale.ROOT);
        HttpRequest.Builder builder = HttpRequest.newBuilder(request, (name, value) -> {
            String lowerCase = name.toLowerCase(Locale.ROOT);
            return !foreign || (!lowerCase.equals(keyHeader) && !NOT_FOR_OTHERS.contains(lowerCase));
        });
        if (request.bodyPublisher().isPresent()) {
            builder.method(
                    request.method(),
                    body.length == 0
                            ? HttpRequest.BodyPublishers.noBody()
                            : HttpRequest.BodyPublishers.ofByteArray(body));
        }
        return builder.uri(uri).build();
    }

    private boolean isAnswer(HttpResponse.ResponseInfo info, URI uri, int hops) {
        return settings.redirects()
                        .target(info.statusCode(), info.headers(), uri, hops)
                        .isEmpty()
                && Verdict.of(info.statusCode(), info.headers(), settings.format()) == Verdict.ANSWER;
    }

    private boolean isSameOrigin(URI uri) {
        return Origin.of(uri).equals(Origin.of(request.uri()));
    }

    private Attempt<T> judge(@Nullable HttpResponse<Reception<T>> response, @Nullable Throwable failure) {
        return response == null ? judgeBreak(unwrap(failure)) : judgeResponse(response);
    }

    private Attempt<T> judgeResponse(HttpResponse<Reception<T>> response) {
        if (response.body() instanceof Reception.Read<T> read) {
            return over(new CallOutcome.Answered<>(new Answer<>(response, read.body()), attempts.get()));
        }
        byte[] beginning = response.body() instanceof Reception.Kept<T> kept ? kept.beginning() : new byte[0];
        lastFailure = new CallFailure.Refused(response.statusCode(), response.headers(), beginning);
        retryAfter =
                RetryAfter.of(response.headers(), settings.clock().instant()).orElse(Duration.ZERO);
        if (Verdict.of(response.statusCode(), response.headers(), settings.format()) == Verdict.STOP) {
            return over(gaveUp(GiveUp.PROVIDER));
        }
        return againUnlessFutile();
    }

    private Attempt<T> judgeBreak(Throwable cause) {
        retryAfter = Duration.ZERO;
        if (!(cause instanceof ConnectException) && !(cause instanceof HttpConnectTimeoutException)) {
            sentSomething = true;
        }
        if (cause instanceof IOException broken) {
            lastFailure = new CallFailure.Broken(broken);
            return againUnlessFutile();
        }
        lastFailure = new CallFailure.Broken(new IOException("The answer could not be read", cause));
        return over(gaveUp(GiveUp.UNREADABLE_ANSWER));
    }

    private Attempt<T> againUnlessFutile() {
        Duration own = Duration.ofMillis(backOff.apply(attempts.get()));
        Duration wait = own.compareTo(retryAfter) > 0 ? own : retryAfter;
        if (sentUnprotected) {
            return over(gaveUp(GiveUp.REDIRECTED));
        }
        Optional<GiveUp> end = ending.get();
        if (end.isPresent()) {
            return over(gaveUp(end.get()));
        }
        if (attempts.get() >= settings.maxAttempts()) {
            return over(gaveUp(GiveUp.ATTEMPTS));
        }
        if (retryAfter.compareTo(settings.longestRetryAfter()) > 0) {
            return over(gaveUp(GiveUp.RETRY_AFTER));
        }
        if (elapsed().plus(wait).compareTo(settings.totalTime()) > 0) {
            return over(gaveUp(GiveUp.TIME));
        }
        if (keyed && !isUsableAfter(wait)) {
            return over(expired());
        }
        logger.debug(
                "Attempt {} at {} met {}, the next follows in {}",
                attempts.get(),
                Origin.of(request.uri()),
                lastFailure,
                wait);
        state.compareAndSet(State.RUNNING, State.WAITING);
        return new Attempt.Again<>(wait);
    }

    private Attempt<T> over(CallOutcome<T> outcome) {
        state.set(State.OVER);
        return new Attempt.Over<>(outcome);
    }

    private CallOutcome<T> gaveUp(GiveUp reason) {
        return lastFailure instanceof CallFailure.Broken broken && !sentSomething
                ? new CallOutcome.NotSent<>(reason, broken, attempts.get())
                : new CallOutcome.Unknown<>(reason, lastFailure, retryAfter, attempts.get());
    }

    private CallOutcome<T> expired() {
        return new CallOutcome.KeyExpired<>(ageAtStart.plus(elapsed()), attempts.get());
    }

    private boolean isUsableAfter(Duration wait) {
        return ageAtStart.plus(elapsed()).plus(wait).compareTo(settings.usableAge()) <= 0;
    }

    private Duration elapsed() {
        return Duration.ofNanos(settings.nanoTime().getAsLong() - startNanos);
    }

    private static Throwable unwrap(@Nullable Throwable failure) {
        if (failure instanceof CompletionException && failure.getCause() != null) {
            return failure.getCause();
        }
        return failure == null ? new IOException("The exchange ended without a word") : failure;
    }
}
