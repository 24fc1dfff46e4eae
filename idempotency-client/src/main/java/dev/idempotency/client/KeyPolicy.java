package dev.idempotency.client;

import dev.idempotency.IdempotencyKey;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The rules of an idempotency key towards one provider, without a client; whoever sends by another client than {@link
 * IdempotentHttpClient} asks it before and after each attempt.
 *
 * <p>One {@link KeyedCall} is made per logical operation, outside of whatever repeats it. The policy sends nothing, waits for
 * nothing and draws no keys. Immutable and safe for use by many threads.
 */
public final class KeyPolicy {
    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
    private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(30);

    private final ProviderFormat format;
    private final Duration attemptTimeout;
    private final InstantSource clock;

    private KeyPolicy(ProviderFormat format, Duration attemptTimeout, InstantSource clock) {
        this.format = Objects.requireNonNull(format, "format");
        this.attemptTimeout = attemptTimeout;
        this.clock = Objects.requireNonNull(clock, "clock");
    }

    /**
     * Returns the policy for a provider, with attempts of at most 30 s (half of the retention, where that is shorter) and the
     * system's clock.
     *
     * @param format what the provider expects of a key
     * @return the policy
     */
    public static KeyPolicy of(ProviderFormat format) {
        Duration half = format.retention().dividedBy(2);
        return new KeyPolicy(
                format, half.compareTo(ATTEMPT_TIMEOUT) < 0 ? half : ATTEMPT_TIMEOUT, InstantSource.system());
    }

    /**
     * Returns this policy for attempts that take longer or shorter: none begins so late that the provider could forget the
     * key before it ends.
     *
     * @param duration the longest time of one attempt; more than zero, and shorter than the provider's retention less a
     *     twentieth for the clocks
     * @return the policy
     * @throws IllegalArgumentException if the duration is out of its range
     */
    public KeyPolicy withAttemptTimeout(Duration duration) {
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("The attempt timeout must be more than zero, but is " + duration);
        }
        Duration usable = format.usableAge(duration);
        if (usable.isZero() || usable.isNegative()) {
            throw new IllegalArgumentException("The attempt timeout must be shorter than the provider's retention of "
                    + format.retention() + " less a twentieth for the clocks, but is " + duration);
        }
        return new KeyPolicy(format, duration, clock);
    }

    /**
     * Returns this policy with another clock, by which the age of keys is told.
     *
     * @param source the clock
     * @return the policy
     */
    public KeyPolicy withClock(InstantSource source) {
        return new KeyPolicy(format, attemptTimeout, source);
    }

    /**
     * Returns what the provider expects of a key.
     *
     * @return the format
     */
    public ProviderFormat format() {
        return format;
    }

    /**
     * Tells whether a method has no effect to protect: its requests get no key.
     *
     * @param method the method, in upper or lower case
     * @return true for GET, HEAD, OPTIONS and TRACE
     */
    public static boolean isSafe(String method) {
        return SAFE_METHODS.contains(method.toUpperCase(Locale.ROOT));
    }

    /**
     * Begins a logical operation whose key is used now for the first time, in this run or any other.
     *
     * <p>Not for a derived key of work that can run again: the key would be new in every run, and a run that comes after the
     * provider has forgotten it would act a second time. Such work calls {@link #call(IdempotencyKey, Instant)}.
     *
     * @param key the operation's key, stored just now, before the first byte
     * @return the call, for all attempts of this operation and of no other
     */
    public KeyedCall call(IdempotencyKey key) {
        return call(key, clock.instant());
    }

    /**
     * Begins or goes on with a logical operation whose key may have been used before.
     *
     * @param key the operation's key
     * @param firstUsedAt a stored time that is not after the key's first use and the same in every run: that of the order
     *     or event from which the key is derived; a time to come counts as now
     * @return the call
     */
    public KeyedCall call(IdempotencyKey key, Instant firstUsedAt) {
        return new KeyedCall(this, key, firstUsedAt);
    }

    /**
     * Checks a request that comes without a {@link KeyedCall}: its caller must have set the header.
     *
     * @param method the request's method
     * @param present the values of the key's header on the request
     * @throws IllegalArgumentException if the method is not safe and the header is missing or stands twice
     */
    public void requireKey(String method, List<String> present) {
        if (present.size() != 1 && !isSafe(method)) {
            throw new IllegalArgumentException("A " + method + " needs one header " + format.headerName() + ", but has "
                    + present.size() + ": pass the operation's key. It is not drawn here, because a key that is drawn"
                    + " per call protects nothing when the operation runs again");
        }
    }

    /**
     * Judges an answer.
     *
     * @param status its status
     * @param headers its headers, as the client gives them; names in upper or lower case, what has no name is skipped
     * @return whether it is the answer, or another attempt is right, and when
     */
    public RetryAdvice advise(int status, Map<String, List<String>> headers) {
        Map<String, List<String>> merged = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> {
            // The status line, in the map that HttpURLConnection gives.
            if (name != null) {
                merged.computeIfAbsent(name, any -> new ArrayList<>()).addAll(values);
            }
        });
        HttpHeaders all = HttpHeaders.of(merged, (name, value) -> true);
        return switch (Verdict.of(status, all, format)) {
            case ANSWER -> new RetryAdvice.Answer();
            case STOP -> new RetryAdvice.Stop();
            case RETRY ->
                new RetryAdvice.Retry(RetryAfter.of(all, clock.instant()).orElse(Duration.ZERO));
        };
    }

    /** The header's value, if it is still to be set; a key that the caller has set is never overwritten. */
    Optional<String> headerToAdd(List<String> present, IdempotencyKey key) {
        String value = format.headerValue(key);
        if (present.isEmpty()) {
            return Optional.of(value);
        }
        if (present.size() == 1
                && (present.get(0).equals(value) || present.get(0).equals(key.value()))) {
            return Optional.empty();
        }
        throw new IllegalArgumentException("The request carries " + present.size() + " header " + format.headerName()
                + " with another key than the one passed; which of them is the operation's?");
    }

    Duration ageOf(Instant firstUsedAt) {
        Duration age = Duration.between(firstUsedAt, clock.instant());
        return age.isNegative() ? Duration.ZERO : age;
    }

    boolean isUsable(Duration age) {
        return age.compareTo(format.usableAge(attemptTimeout)) <= 0;
    }
}
