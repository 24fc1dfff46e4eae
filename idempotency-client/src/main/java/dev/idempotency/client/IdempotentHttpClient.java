package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Permit;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Registration;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request under one idempotency key and repeats it, with the same key and the same bytes, until it has an answer
 * or must give up; applications call it for one provider.
 *
 * <p>The key is fixed before the first byte. It belongs to one logical operation and is best derived from that
 * operation's identity ({@link dev.idempotency.IdempotencyContext#derive}, {@link dev.idempotency.KeyDerivation}), so that
 * a process that runs the operation again after a crash sends the same one; this client never draws a key. Methods that are
 * safe (GET, HEAD, OPTIONS, TRACE) get no key and are repeated without one.
 *
 * <p>Repeated are: connection failures and broken exchanges, 408, 425, 429, 5xx, and 409 where the {@link ProviderFormat}
 * takes it for an attempt in progress. {@code Retry-After} is kept: never earlier, and not at all if it asks for more than
 * {@link IdempotentHttpClientBuilder#longestRetryAfter}. A 400 or 422 is never repeated. No attempt begins so late that the provider might
 * have forgotten the key before it ends.
 *
 * <p>Safe for use by many threads. It keeps one daemon thread for waits until {@link #close()}; nothing of one call is
 * kept for the next.
 *
 * <p>The JDK's client sends a POST again on its own when the system property {@code jdk.httpclient.enableAllMethodRetry} is
 * set. That does no harm here, since it sends the same key and bytes; but it can hide that a request was sent, so with
 * that property no call ends as {@link CallOutcome.NotSent}.
 */
public final class IdempotentHttpClient implements AutoCloseable {
    private final HttpClient http;
    private final CallSettings settings;
    private final KeyPolicy keys;
    private final CallReports reports;
    private final @Nullable GracefulShutdown shutdown;
    private final IntervalFunction backOff;
    private final Retry retry;
    private final ScheduledThreadPoolExecutor timer;
    private final Set<Call<?>> calls = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final @Nullable Registration registration;

    IdempotentHttpClient(
            HttpClient http,
            CallSettings settings,
            @Nullable GracefulShutdown gracefulShutdown,
            CallListener listener) {
        this.http = http;
        this.settings = settings;
        this.keys = KeyPolicy.of(settings.format());
        this.shutdown = gracefulShutdown;
        this.reports = new CallReports(listener, settings.nanoTime());
        this.backOff = IntervalFunction.ofExponentialRandomBackoff(
                settings.firstBackOff(), 2.0, 0.5, settings.longestBackOff());
        this.retry = Retry.of("idempotent-http-client", retryConfig(settings.maxAttempts()));
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "idempotent-http-client");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        this.registration = gracefulShutdown == null ? null : register(gracefulShutdown);
    }

    private Registration register(GracefulShutdown gracefulShutdown) {
        return gracefulShutdown.on(
                Phase.STOP_INTAKE, "back-offs of outgoing calls", deadline -> endBackOffs(GiveUp.SHUTTING_DOWN));
    }

    /**
     * Returns a builder.
     *
     * @param http sends the attempts; it must not follow redirects itself, because it would carry the key along
     * @param format what the provider expects of a key
     * @return the builder
     * @throws IllegalArgumentException if the client follows redirects
     */
    public static IdempotentHttpClientBuilder builder(HttpClient http, ProviderFormat format) {
        return new IdempotentHttpClientBuilder(http, format);
    }

    /**
     * Returns a client with the default of every option.
     *
     * @param http sends the attempts; it must not follow redirects itself
     * @param format what the provider expects of a key
     * @return the client
     * @throws IllegalArgumentException if the client follows redirects
     */
    public static IdempotentHttpClient ofDefaults(HttpClient http, ProviderFormat format) {
        return builder(http, format).build();
    }

    /**
     * Sends a request under a key that is used now for the first time, in this run or any other.
     *
     * <p>Not for a derived key of work that can run again: the key would be new in every run, and a run that comes after the
     * provider has forgotten it would act a second time. Such work passes the time since which the key can have been used,
     * by {@link #send(HttpRequest, IdempotencyKey, Instant, HttpResponse.BodyHandler)}.
     *
     * @param <T> the type of the response's body
     * @param request the request; its body is read once, at most {@link IdempotentHttpClientBuilder#maxBodyBytes}
     * @param key the operation's key; ignored for a safe method
     * @param handler reads the body of an answer; bodies of attempts that are repeated never reach it
     * @return what became of the call
     * @throws InterruptedException if the thread is interrupted while waiting: the attempt under way is cancelled, no
     *     other follows, and whether the provider acted is unknown
     * @throws IllegalArgumentException if the request carries another key already, or its body is too large; nothing was
     *     sent
     * @throws IllegalStateException if the client is closed; nothing was sent
     */
    public <T extends @Nullable Object> CallOutcome<T> send(
            HttpRequest request, IdempotencyKey key, HttpResponse.BodyHandler<T> handler) throws InterruptedException {
        return await(sendAsync(request, key, handler));
    }

    /**
     * Sends a request under a key that may have been used before.
     *
     * @param <T> the type of the response's body
     * @param request the request, byte for byte the one that was sent before
     * @param key the operation's key; ignored for a safe method
     * @param firstUsedAt a stored time that is not after the key's first use and the same in every run: that of the order
     *     or event from which the key is derived; a time to come counts as now
     * @param handler reads the body of an answer
     * @return what became of the call
     * @throws InterruptedException as in {@link #send(HttpRequest, IdempotencyKey, HttpResponse.BodyHandler)}
     * @throws IllegalArgumentException as there
     * @throws IllegalStateException as there
     */
    public <T extends @Nullable Object> CallOutcome<T> send(
            HttpRequest request, IdempotencyKey key, Instant firstUsedAt, HttpResponse.BodyHandler<T> handler)
            throws InterruptedException {
        return await(sendAsync(request, key, firstUsedAt, handler));
    }

    /**
     * Sends a request whose caller has set the key's header, used now for the first time; the header stays as it is.
     *
     * <p>For work that can run again set the header and call {@link #send(HttpRequest, IdempotencyKey, Instant,
     * HttpResponse.BodyHandler)} with the same key.
     *
     * @param <T> the type of the response's body
     * @param request the request
     * @param handler reads the body of an answer
     * @return what became of the call
     * @throws InterruptedException as in {@link #send(HttpRequest, IdempotencyKey, HttpResponse.BodyHandler)}
     * @throws IllegalArgumentException if the method is not safe and the header is missing or stands twice
     * @throws IllegalStateException if the client is closed; nothing was sent
     */
    public <T extends @Nullable Object> CallOutcome<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler)
            throws InterruptedException {
        return await(sendAsync(request, handler));
    }

    /**
     * Sends as {@link #send(HttpRequest, IdempotencyKey, HttpResponse.BodyHandler)} does, without waiting.
     *
     * @param <T> the type of the response's body
     * @param request the request
     * @param key the operation's key
     * @param handler reads the body of an answer
     * @return completed with the outcome; cancelling it cancels the attempt under way and all to come
     * @throws IllegalArgumentException if the request carries another key already
     * @throws IllegalStateException if the client is closed
     */
    public <T extends @Nullable Object> CompletableFuture<CallOutcome<T>> sendAsync(
            HttpRequest request, IdempotencyKey key, HttpResponse.BodyHandler<T> handler) {
        return sendAsync(request, key, settings.clock().instant(), handler);
    }

    /**
     * Sends as {@link #send(HttpRequest, IdempotencyKey, Instant, HttpResponse.BodyHandler)} does, without waiting.
     *
     * @param <T> the type of the response's body
     * @param request the request
     * @param key the operation's key
     * @param firstUsedAt a stored time that is not after the key's first use
     * @param handler reads the body of an answer
     * @return completed with the outcome; cancelling it cancels the attempt under way and all to come
     * @throws IllegalArgumentException if the request carries another key already
     * @throws IllegalStateException if the client is closed
     */
    public <T extends @Nullable Object> CompletableFuture<CallOutcome<T>> sendAsync(
            HttpRequest request, IdempotencyKey key, Instant firstUsedAt, HttpResponse.BodyHandler<T> handler) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(firstUsedAt, "firstUsedAt");
        return start(withKey(request, key), firstUsedAt, handler);
    }

    /**
     * Sends as {@link #send(HttpRequest, HttpResponse.BodyHandler)} does, without waiting.
     *
     * @param <T> the type of the response's body
     * @param request the request
     * @param handler reads the body of an answer
     * @return completed with the outcome; cancelling it cancels the attempt under way and all to come
     * @throws IllegalArgumentException if the method is not safe and the header is missing or stands twice
     * @throws IllegalStateException if the client is closed
     */
    public <T extends @Nullable Object> CompletableFuture<CallOutcome<T>> sendAsync(
            HttpRequest request, HttpResponse.BodyHandler<T> handler) {
        keys.requireKey(
                request.method(), request.headers().allValues(settings.format().headerName()));
        return start(request, settings.clock().instant(), handler);
    }

    /**
     * Ends the waits between attempts, whose calls end as {@link GiveUp#CLOSED}; attempts under way come to their end.
     * Does not close the {@link HttpClient}. Only the first call has an effect.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            endBackOffs(GiveUp.CLOSED);
            timer.shutdown();
            if (registration != null) {
                registration.close();
            }
        }
    }

    /** Returns the longest time a call can take: the last attempt may begin at the end of the total time. */
    Duration longestCall() {
        return settings.totalTime().plus(settings.attemptTimeout());
    }

    /**
     * Returns the request with its key, as far as can be told in advance one that can be sent.
     *
     * @throws IllegalArgumentException if it could only be sent without the key, or not at all
     */
    HttpRequest keyed(HttpRequest request, IdempotencyKey key) {
        if (isSafe(request)) {
            throw new IllegalArgumentException(
                    "A " + request.method() + " carries no key and has no effect to protect: use POST, PUT or DELETE");
        }
        long length = request.bodyPublisher()
                .map(HttpRequest.BodyPublisher::contentLength)
                .orElse(0L);
        if (length > settings.maxBodyBytes()) {
            throw new BodySnapshot.TooLarge(settings.maxBodyBytes());
        }
        return withKey(request, key);
    }

    private HttpRequest withKey(HttpRequest request, IdempotencyKey key) {
        if (isSafe(request)) {
            return request;
        }
        String name = settings.format().headerName();
        return keys.headerToAdd(request.headers().allValues(name), key)
                .map(value -> HttpRequest.newBuilder(request, (header, text) -> true)
                        .header(name, value)
                        .build())
                .orElse(request);
    }

    private <T extends @Nullable Object> CompletableFuture<CallOutcome<T>> start(
            HttpRequest request, Instant firstUsedAt, HttpResponse.BodyHandler<T> handler) {
        Objects.requireNonNull(handler, "handler");
        if (closed.get()) {
            throw new IllegalStateException("The client is closed; nothing was sent");
        }
        // Work in hand may call while the process drains: it is counted where it can be, and never refused.
        Optional<Permit> permit = shutdown == null
                ? Optional.empty()
                : shutdown.inFlight().tryEnter("outgoing " + request.method() + " to " + Origin.of(request.uri()));
        CompletableFuture<CallOutcome<T>> result = new CompletableFuture<>();
        AtomicInteger attempts = new AtomicInteger();
        onEnd(result, reports.begin(request.method(), attempts::get));
        onEnd(result, (outcome, failure) -> permit.ifPresent(Permit::close));
        onEnd(BodySnapshot.of(request, settings.maxBodyBytes()), (body, failure) -> {
            if (body == null) {
                unreadable(failure, result);
            } else {
                run(new Call<>(
                        http,
                        settings,
                        timer,
                        backOff,
                        this::ending,
                        request,
                        body,
                        handler,
                        firstUsedAt,
                        attempts,
                        result));
            }
        });
        return result;
    }

    private <T extends @Nullable Object> void run(Call<T> call) {
        calls.add(call);
        onEnd(call.result(), (outcome, failure) -> {
            calls.remove(call);
            if (call.result().isCancelled()) {
                call.cancel();
            }
        });
        try {
            onEnd(retry.executeCompletionStage(timer, call::attempt).toCompletableFuture(), call::finish);
        } catch (RuntimeException bug) {
            call.finish(null, bug);
        }
    }

    private static <T extends @Nullable Object> void onEnd(
            CompletableFuture<T> future, BiConsumer<@Nullable T, @Nullable Throwable> action) {
        CompletableFuture<T> unused = future.whenComplete(action);
    }

    private static <T extends @Nullable Object> void unreadable(
            @Nullable Throwable failure, CompletableFuture<CallOutcome<T>> result) {
        if (failure instanceof BodySnapshot.TooLarge tooLarge) {
            result.completeExceptionally(tooLarge);
            return;
        }
        IOException cause = failure instanceof IOException io
                ? io
                : new IOException("The request's body could not be read", failure);
        result.complete(new CallOutcome.NotSent<>(GiveUp.UNREADABLE_BODY, new CallFailure.Broken(cause), 0));
    }

    private Optional<GiveUp> ending() {
        if (closed.get()) {
            return Optional.of(GiveUp.CLOSED);
        }
        return shutdown == null || shutdown.acceptsWork() ? Optional.empty() : Optional.of(GiveUp.SHUTTING_DOWN);
    }

    private void endBackOffs(GiveUp reason) {
        calls.forEach(call -> call.endBackOff(reason));
    }

    private static boolean isSafe(HttpRequest request) {
        return KeyPolicy.isSafe(request.method());
    }

    /** The library does the loop and the waits; whether, when and for how long is decided by the attempt. */
    private static RetryConfig retryConfig(int maxAttempts) {
        return RetryConfig.<Attempt<?>>custom()
                .maxAttempts(maxAttempts)
                .retryOnResult(attempt -> attempt instanceof Attempt.Again)
                .retryOnException(failure -> false)
                .intervalBiFunction((number, either) -> either.get() instanceof Attempt.Again<?> again
                        ? again.pause().toMillis()
                        : 0L)
                .build();
    }

    private static <T extends @Nullable Object> CallOutcome<T> await(CompletableFuture<CallOutcome<T>> result)
            throws InterruptedException {
        try {
            return result.get();
        } catch (InterruptedException e) {
            result.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new CompletionException(e.getCause());
        }
    }
}
