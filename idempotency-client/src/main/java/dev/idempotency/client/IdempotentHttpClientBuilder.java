package dev.idempotency.client;

import dev.idempotency.shutdown.GracefulShutdown;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Collects the options of an {@link IdempotentHttpClient}; {@link IdempotentHttpClient#builder} makes one. Not safe for use by
 * many threads.
 */
public final class IdempotentHttpClientBuilder {
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
    private CallListener listener = report -> {};
    private InstantSource clock = InstantSource.system();
    private LongSupplier nanoTime = System::nanoTime;

    IdempotentHttpClientBuilder(HttpClient http, ProviderFormat format) {
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
    public IdempotentHttpClientBuilder maxAttempts(int number) {
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
    public IdempotentHttpClientBuilder backOff(Duration first, Duration longest) {
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
    public IdempotentHttpClientBuilder attemptTimeout(Duration duration) {
        this.attemptTimeout = Objects.requireNonNull(duration, "duration");
        return this;
    }

    /**
     * Sets how long after the call's beginning its last attempt may begin.
     *
     * @param duration 10 ms to 24 h; 2 min unless set
     * @return this builder
     */
    public IdempotentHttpClientBuilder totalTime(Duration duration) {
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
    public IdempotentHttpClientBuilder longestRetryAfter(Duration duration) {
        this.longestRetryAfter = Objects.requireNonNull(duration, "duration");
        return this;
    }

    /**
     * Sets how many bytes of a request's body are kept for another attempt.
     *
     * @param bytes 0 to 2,147,483,639; 8 MiB unless set
     * @return this builder
     */
    public IdempotentHttpClientBuilder maxBodyBytes(int bytes) {
        this.maxBodyBytes = bytes;
        return this;
    }

    /**
     * Sets which redirects are followed.
     *
     * @param which {@link Redirects#NEVER} unless set
     * @return this builder
     */
    public IdempotentHttpClientBuilder redirects(Redirects which) {
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
    public IdempotentHttpClientBuilder shutdown(GracefulShutdown gracefulShutdown) {
        this.shutdown = Objects.requireNonNull(gracefulShutdown, "gracefulShutdown");
        return this;
    }

    /**
     * Sets who is told what became of each call.
     *
     * @param callListener told once per call; nobody unless set
     * @return this builder
     */
    public IdempotentHttpClientBuilder listener(CallListener callListener) {
        this.listener = Objects.requireNonNull(callListener, "callListener");
        return this;
    }

    /**
     * Sets the clock by which the age of keys is told.
     *
     * @param source the clock; the system's unless set
     * @return this builder
     */
    public IdempotentHttpClientBuilder clock(InstantSource source) {
        this.clock = Objects.requireNonNull(source, "source");
        return this;
    }

    /** Replaces the monotonic clock, for tests of this package. */
    IdempotentHttpClientBuilder nanoTime(LongSupplier ticker) {
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
            throw new IllegalArgumentException("maxBodyBytes must be between 0 and 2147483639, but is " + maxBodyBytes);
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
        return new IdempotentHttpClient(http, settings, shutdown, listener);
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
