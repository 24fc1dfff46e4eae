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
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
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
 * {@link Builder#longestRetryAfter}. A 400 or 422 is never repeated. No attempt begins so late that the provider might
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
    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

    private final HttpClient http;
    private final CallSettings settings;
    private final @Nullable GracefulShutdown shutdown;
    private final IntervalFunction backOff;
    private final Retry retry;
    private final ScheduledThreadPoolExecutor timer;
    private final Set<Call<?>> calls = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final @Nullable Registration registration;

    private IdempotentHttpClient(Builder builder, CallSettings settings) {
        this.http = builder.http;
        this.settings = settings;
        this.shutdown = builder.shutdown;
        this.backOff = IntervalFunction.ofExponentialRandomBackoff(
                settings.firstBackOff(), 2.0, 0.5, settings.longestBackOff());
        this.retry = Retry.of("idempotent-http-client", retryConfig(settings.maxAttempts()));
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "idempotent-http-client");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        this.registration = builder.shutdown == null ? null : register(builder.shutdown);
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
    public static Builder builder(HttpClient http, ProviderFormat format) {
        return new Builder(http, format);
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
     * Sends a request under a key that is used now for the first time.
     *
     * @param <T> the type of the response's body
     * @param request the request; its body is read once, at most {@link Builder#maxBodyBytes}
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
     * @param firstUsedAt when the key can have been used first, at the latest: the time of the event or of the operation
     *     from which it is derived; a time to come counts as now
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
     * @param firstUsedAt when the key can have been used first, at the latest
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
        List<String> keys = request.headers().allValues(settings.format().headerName());
        if (keys.size() != 1 && !isSafe(request)) {
            throw new IllegalArgumentException("A " + request.method() + " needs one header "
                    + settings.format().headerName() + ", but has " + keys.size()
                    + ": pass the operation's key. It is not drawn here, because a key that is drawn per call"
                    + " protects nothing when the operation runs again");
        }
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
        String value = settings.format().headerValue(key);
        List<String> present = request.headers().allValues(name);
        if (present.isEmpty()) {
            return HttpRequest.newBuilder(request, (header, text) -> true)
                    .header(name, value)
                    .build();
        }
        if (present.size() == 1
                && (present.get(0).equals(value) || present.get(0).equals(key.value()))) {
            return request;
        }
        throw new IllegalArgumentException("The request carries " + present.size() + " header " + name
                + " with another key than the one passed; which of them is the operation's?");
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
        onEnd(result, (outcome, failure) -> permit.ifPresent(Permit::close));
        onEnd(BodySnapshot.of(request, settings.maxBodyBytes()), (body, failure) -> {
            if (body == null) {
                unreadable(failure, result);
            } else {
                run(new Call<>(
                        http, settings, timer, backOff, this::ending, request, body, handler, firstUsedAt, result));
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
        return SAFE_METHODS.contains(request.method().toUpperCase(Locale.ROOT));
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

    /** Collects the options of a client. Not safe for use by many threads. */
    public static final class Builder {
        private static final Duration LONGEST = Duration.ofHours(24);

        private final HttpClient http;
        private final ProviderFormat format;
        private int maxAttempts = 5;
        private Duration firstBackOff = Duration.ofMillis(200);
        private Duration longestBackOff = Duration.ofSeconds(10);
        private Duration attemptTimeout = Duration.ofSeconds(30);
        private Duration totalTime = Duration.ofMinutes(2);
        private Duration longestRetryAfter = Duration.ofSeconds(30);
        private int maxBodyBytes = 8 * 1024 * 1024;
        private Redirects redirects = Redirects.NEVER;
        private @Nullable GracefulShutdown shutdown;
        private InstantSource clock = InstantSource.system();
        private LongSupplier nanoTime = System::nanoTime;

        private Builder(HttpClient http, ProviderFormat format) {
            if (http.followRedirects() != HttpClient.Redirect.NEVER) {
                throw new IllegalArgumentException("The HttpClient follows redirects (" + http.followRedirects()
                        + ") and would carry the key to another origin: build it with Redirect.NEVER and call"
                        + " redirects(...) here");
            }
            this.http = http;
            this.format = Objects.requireNonNull(format, "format");
        }

        /**
         * Sets how many attempts a call makes at most.
         *
         * @param number 1 to 100, the first one included; 5 unless set
         * @return this builder
         */
        public Builder maxAttempts(int number) {
            this.maxAttempts = number;
            return this;
        }

        /**
         * Sets the waits between attempts: they double from the first to the longest, each varied at random by half.
         *
         * @param first the first one; 10 ms to 24 h, 200 ms unless set
         * @param longest the longest one; at least the first, 10 s unless set
         * @return this builder
         */
        public Builder backOff(Duration first, Duration longest) {
            this.firstBackOff = Objects.requireNonNull(first, "first");
            this.longestBackOff = Objects.requireNonNull(longest, "longest");
            return this;
        }

        /**
         * Sets how long one attempt may take, from the connection to the last byte of the answer's body.
         *
         * @param duration 10 ms to 24 h; 30 s unless set
         * @return this builder
         */
        public Builder attemptTimeout(Duration duration) {
            this.attemptTimeout = Objects.requireNonNull(duration, "duration");
            return this;
        }

        /**
         * Sets how long after the call's beginning its last attempt may begin.
         *
         * @param duration 10 ms to 24 h; 2 min unless set
         * @return this builder
         */
        public Builder totalTime(Duration duration) {
            this.totalTime = Objects.requireNonNull(duration, "duration");
            return this;
        }

        /**
         * Sets the longest {@code Retry-After} that the client waits for; a longer one ends the call, since asking
         * earlier than the provider wants helps nobody.
         *
         * @param duration 10 ms to 24 h; 30 s unless set
         * @return this builder
         */
        public Builder longestRetryAfter(Duration duration) {
            this.longestRetryAfter = Objects.requireNonNull(duration, "duration");
            return this;
        }

        /**
         * Sets how many bytes of a request's body are kept for another attempt.
         *
         * @param bytes 0 to 2,147,483,639; 8 MiB unless set
         * @return this builder
         */
        public Builder maxBodyBytes(int bytes) {
            this.maxBodyBytes = bytes;
            return this;
        }

        /**
         * Sets which redirects are followed.
         *
         * @param which {@link Redirects#NEVER} unless set
         * @return this builder
         */
        public Builder redirects(Redirects which) {
            this.redirects = Objects.requireNonNull(which, "which");
            return this;
        }

        /**
         * Joins the shutdown: calls under way are waited for, but once no new work is taken, a call that waits for its
         * next attempt, or would, ends as {@link GiveUp#SHUTTING_DOWN}.
         *
         * @param gracefulShutdown the application's shutdown
         * @return this builder
         */
        public Builder shutdown(GracefulShutdown gracefulShutdown) {
            this.shutdown = Objects.requireNonNull(gracefulShutdown, "gracefulShutdown");
            return this;
        }

        /**
         * Sets the clock by which the age of keys is told.
         *
         * @param source the clock; the system's unless set
         * @return this builder
         */
        public Builder clock(InstantSource source) {
            this.clock = Objects.requireNonNull(source, "source");
            return this;
        }

        /** Replaces the monotonic clock, for tests of this package. */
        Builder nanoTime(LongSupplier ticker) {
            this.nanoTime = ticker;
            return this;
        }

        /**
         * Builds the client.
         *
         * @return the client, to be closed
         * @throws IllegalArgumentException if an option is out of its range; the message names option, value and range
         */
        public IdempotentHttpClient build() {
            if (maxAttempts < 1 || maxAttempts > 100) {
                throw new IllegalArgumentException("maxAttempts must be between 1 and 100, but is " + maxAttempts);
            }
            if (maxBodyBytes < 0 || maxBodyBytes > Integer.MAX_VALUE - 8) {
                throw new IllegalArgumentException(
                        "maxBodyBytes must be between 0 and 2147483639, but is " + maxBodyBytes);
            }
            check("backOff first", firstBackOff);
            check("backOff longest", longestBackOff);
            check("attemptTimeout", attemptTimeout);
            check("totalTime", totalTime);
            check("longestRetryAfter", longestRetryAfter);
            if (longestBackOff.compareTo(firstBackOff) < 0) {
                throw new IllegalArgumentException(
                        "backOff longest must be at least the first, " + firstBackOff + ", but is " + longestBackOff);
            }
            CallSettings settings = new CallSettings(
                    format,
                    maxAttempts,
                    firstBackOff,
                    longestBackOff,
                    attemptTimeout,
                    totalTime,
                    longestRetryAfter,
                    maxBodyBytes,
                    redirects,
                    isSet("jdk.httpclient.enableAllMethodRetry"),
                    clock,
                    nanoTime);
            if (settings.usableAge().isNegative() || settings.usableAge().isZero()) {
                throw new IllegalArgumentException("attemptTimeout must be shorter than the provider's retention of "
                        + format.retention() + " less a twentieth for the clocks, but is " + attemptTimeout
                        + ": no second attempt could ever be made");
            }
            return new IdempotentHttpClient(this, settings);
        }

        private static void check(String option, Duration value) {
            if (value.toMillis() < 10 || value.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException(option + " must be between 10 ms and 24 h, but is " + value);
            }
        }

        private static boolean isSet(String property) {
            String value = System.getProperty(property);
            return value != null && (value.isEmpty() || Boolean.parseBoolean(value));
        }
    }
}
