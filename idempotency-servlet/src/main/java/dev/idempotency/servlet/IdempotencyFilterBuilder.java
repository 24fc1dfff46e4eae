package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import dev.idempotency.Protection;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Collects the options of an {@link IdempotencyFilter}; every option has a default. Not safe for use by many threads. */
public final class IdempotencyFilterBuilder {
    private static final List<String> KEPT_HEADERS = List.of(
            "Content-Language", "Content-Encoding", "Location", "Content-Location", "ETag", "Last-Modified", "Link");

    private final Idempotency idempotency;
    private String headerName = "Idempotency-Key";
    private KeySyntax syntax = KeySyntax.LENIENT;
    private Pattern keyFormat = Pattern.compile(".*");
    private Set<String> methods = Set.of("POST", "PATCH");
    private Predicate<HttpServletRequest> requests = request -> true;
    private boolean annotatedOnly;
    private boolean keyRequired = true;
    private Protection protection = Protection.TRANSACTIONAL;
    private ScopeResolver scopes = ScopeResolver.byPrincipal();
    private FingerprintFunction fingerprints = FingerprintFunction.rawBytes();
    private BufferLimits requestLimits = new BufferLimits(256 << 10, 10L << 20);
    private BufferLimits responseLimits = new BufferLimits(256 << 10, 100L << 20);
    private int headerLimit = 6 << 10;
    private int replayLimit = 1 << 20;
    private final List<String> keptHeaders = new ArrayList<>(KEPT_HEADERS);
    private Duration retention = Duration.ofHours(24);
    private Duration maxWait = Duration.ZERO;
    private Duration retryAfter = Duration.ofSeconds(2);
    private RefusalListener refusals = code -> {};
    private UnavailableAnswer unavailable = (request, response, status) -> false;
    private String problemTypeBase = "urn:idempotency:problem:";
    private final Map<ProblemCode, Integer> statuses = new EnumMap<>(ProblemCode.class);

    IdempotencyFilterBuilder(Idempotency idempotency) {
        this.idempotency = Objects.requireNonNull(idempotency, "idempotency");
    }

    /**
     * Narrows what a key may be: one that does not match is refused as malformed before any look-up, with the expression in
     * the answer.
     *
     * @param regex what the whole key must match, after its quotes and escapes were taken off; every key of 1 to 255 printable
     *     ASCII characters unless set
     * @return this builder
     * @throws java.util.regex.PatternSyntaxException if it is no regular expression
     */
    public IdempotencyFilterBuilder keyFormat(String regex) {
        this.keyFormat = Pattern.compile(regex);
        return this;
    }

    /**
     * Sets the header that carries the key.
     *
     * @param name the header's name; {@code Idempotency-Key} unless set
     * @return this builder
     * @throws IllegalArgumentException if no header can have the name: its key would be missing from every request
     */
    public IdempotencyFilterBuilder headerName(String name) {
        this.headerName = requireToken("headerName", name);
        return this;
    }

    /**
     * Sets which forms of the header are understood.
     *
     * @param keySyntax {@link KeySyntax#LENIENT} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder syntax(KeySyntax keySyntax) {
        this.syntax = Objects.requireNonNull(keySyntax, "keySyntax");
        return this;
    }

    /**
     * Sets the methods to which the filter applies.
     *
     * @param names upper-case methods; {@code POST} and {@code PATCH} unless set; {@code GET}, {@code HEAD} and {@code
     *     OPTIONS} are refused, since they are safe to repeat as they are
     * @return this builder
     * @throws IllegalArgumentException if a method is safe by RFC 9110, section 9.2.1, or if the filter would protect
     *     nothing: no method at all, or one in lower case, which no request has
     */
    public IdempotencyFilterBuilder methods(String... names) {
        if (names.length == 0) {
            throw new IllegalArgumentException("methods must name at least one, or the filter protects nothing");
        }
        for (String name : names) {
            if (!requireToken("methods", name).equals(name.toUpperCase(Locale.ROOT))) {
                throw new IllegalArgumentException("methods must be upper-case, but one is " + name
                        + ": methods are compared as they are, and no request would be protected");
            }
            if (IdempotencyFilter.SAFE_METHODS.contains(name)) {
                throw new IllegalArgumentException("methods must not name " + name + ": it is safe to repeat as it is");
            }
        }
        this.methods = Set.of(names);
        return this;
    }

    /**
     * Restricts the filter to some requests among those with one of the methods.
     *
     * @param predicate tells to which requests it applies; to all unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder requests(Predicate<HttpServletRequest> predicate) {
        this.requests = Objects.requireNonNull(predicate, "predicate");
        return this;
    }

    /**
     * Restricts the filter to servlets with {@link dev.idempotency.Idempotent} on the class or on the method that
     * handles the request.
     *
     * <p>With or without this option such an annotation takes the place of the filter's own {@code keyRequired}, {@code
     * protection} and {@code retention}, and its operation that of method and path. On a class it concerns the filter's
     * {@link #methods}; on {@code doPost}, {@code doPut}, {@code doPatch} or {@code doDelete} that method, also beside
     * these. If no servlet has one when the filter starts, the start fails.
     *
     * @return this builder
     */
    public IdempotencyFilterBuilder annotatedServletsOnly() {
        this.annotatedOnly = true;
        return this;
    }

    /**
     * Sets whether a request without a key is refused.
     *
     * @param required true (the default) to answer 400; false to run it without protection
     * @return this builder
     */
    public IdempotencyFilterBuilder keyRequired(boolean required) {
        this.keyRequired = required;
        return this;
    }

    /**
     * Sets how keys protect the work.
     *
     * @param keyProtection {@link Protection#TRANSACTIONAL} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder protection(Protection keyProtection) {
        this.protection = Objects.requireNonNull(keyProtection, "keyProtection");
        return this;
    }

    /**
     * Sets how the scope of a key is found.
     *
     * @param resolver {@link ScopeResolver#byPrincipal()} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder scopes(ScopeResolver resolver) {
        this.scopes = Objects.requireNonNull(resolver, "resolver");
        return this;
    }

    /**
     * Sets what two requests under one key must have in common.
     *
     * @param function {@link FingerprintFunction#rawBytes()} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder fingerprints(FingerprintFunction function) {
        this.fingerprints = Objects.requireNonNull(function, "function");
        return this;
    }

    /**
     * Bounds the bodies of requests; a larger one is answered 413.
     *
     * @param limits 256 KiB in memory and 10 MiB at all unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder requestLimits(BufferLimits limits) {
        this.requestLimits = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /**
     * Bounds the responses that are held back: under {@link Protection#TRANSACTIONAL} the handler of a larger one gets
     * an {@link java.io.IOException} and is rolled back; under {@link Protection#LEASED} a larger one is streamed from
     * there on and cannot be replayed.
     *
     * @param limits 256 KiB in memory and 100 MiB at all unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder responseLimits(BufferLimits limits) {
        this.responseLimits = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /**
     * Bounds the headers of responses: where they have more bytes, the handler has failed, and under {@link
     * Protection#TRANSACTIONAL} all is rolled back. Containers refuse large headers only when the answer goes out, which
     * is after the commit.
     *
     * @param bytes 256 to 1,048,576, names, separators and cookies included; 6,144 unless set, which leaves room for
     *     what containers add below the 8,192 that they allow by default: raise theirs before this one
     * @return this builder
     * @throws IllegalArgumentException if the number is out of its range
     */
    public IdempotencyFilterBuilder headerLimit(int bytes) {
        if (bytes < 256 || bytes > 1 << 20) {
            throw new IllegalArgumentException("headerLimit must be between 256 and 1048576 bytes, but is " + bytes);
        }
        this.headerLimit = bytes;
        return this;
    }

    /**
     * Bounds the responses that are stored; a repeat of a larger one is answered {@link
     * ProblemCode#RESPONSE_UNAVAILABLE}.
     *
     * @param bytes 0 to 16 MiB; 1 MiB unless set
     * @return this builder
     * @throws IllegalArgumentException if the number is out of its range
     */
    public IdempotencyFilterBuilder replayLimit(int bytes) {
        if (bytes < 0 || bytes > 16 << 20) {
            throw new IllegalArgumentException("replayLimit must be between 0 and 16777216 bytes, but is " + bytes);
        }
        this.replayLimit = bytes;
        return this;
    }

    /**
     * Adds a response header that is stored and replayed.
     *
     * @param name the header's name, beside those always kept: {@code Content-Type}, {@code Content-Language}, {@code
     *     Content-Encoding}, {@code Location}, {@code Content-Location}, {@code ETag}, {@code Last-Modified}, {@code
     *     Link}
     * @return this builder
     * @throws IllegalArgumentException if it is {@code Set-Cookie}: a stored session must not be given again
     */
    public IdempotencyFilterBuilder keepHeader(String name) {
        if (name.toLowerCase(Locale.ROOT).startsWith("set-cookie")) {
            throw new IllegalArgumentException("keepHeader must not name " + name + ": it would give a session again");
        }
        keptHeaders.add(name);
        return this;
    }

    /**
     * Sets how long an answer is kept, counted from the claim.
     *
     * @param duration 1 s to 3,660 days; 24 h unless set
     * @return this builder
     * @throws IllegalArgumentException if the duration is out of its range
     */
    public IdempotencyFilterBuilder retention(Duration duration) {
        this.retention = RequestPlan.requireRetention("retention", duration);
        return this;
    }

    /**
     * Sets how long a duplicate waits for the running request before it is answered 409.
     *
     * @param duration zero (the default) to answer at once; at most 10 minutes
     * @return this builder
     * @throws IllegalArgumentException if the duration is out of its range
     */
    public IdempotencyFilterBuilder maxWait(Duration duration) {
        if (duration.isNegative() || duration.compareTo(Duration.ofMinutes(10)) > 0) {
            throw new IllegalArgumentException("maxWait must be between 0 and 10 minutes, but is " + duration);
        }
        this.maxWait = Objects.requireNonNull(duration, "duration");
        return this;
    }

    /**
     * Sets the {@code Retry-After} of the filter's own 503.
     *
     * @param duration 2 s unless set; rounded up to whole seconds
     * @return this builder
     */
    public IdempotencyFilterBuilder retryAfter(Duration duration) {
        this.retryAfter = Objects.requireNonNull(duration, "duration");
        return this;
    }

    /**
     * Sets the beginning of the problem documents' {@code type}, to which the code is added.
     *
     * @param base an absolute URI without a double quote or angle bracket; {@code urn:idempotency:problem:} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder problemTypeBase(String base) {
        if (!base.matches("[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-~]*")) {
            throw new IllegalArgumentException("problemTypeBase must be an absolute URI, but is \"" + base + "\"");
        }
        this.problemTypeBase = base;
        return this;
    }

    /**
     * Sets the status of one of the filter's own answers.
     *
     * @param code which answer
     * @param status 400 to 599
     * @return this builder
     * @throws IllegalArgumentException if the status is out of its range
     */
    public IdempotencyFilterBuilder status(ProblemCode code, int status) {
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException("The status of " + code + " must be 400 to 599, but is " + status);
        }
        statuses.put(Objects.requireNonNull(code, "code"), status);
        return this;
    }

    /**
     * Sets who is told of requests that are refused before their key is looked up.
     *
     * @param listener told once per refusal; nobody unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder refusals(RefusalListener listener) {
        this.refusals = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /**
     * Sets who answers a request whose operation is over and whose answer was not kept.
     *
     * @param answer gives an answer of its own; 409 {@link ProblemCode#RESPONSE_UNAVAILABLE} unless set
     * @return this builder
     */
    public IdempotencyFilterBuilder unavailable(UnavailableAnswer answer) {
        this.unavailable = Objects.requireNonNull(answer, "answer");
        return this;
    }

    /** RFC 9110, section 5.6.2. */
    private static String requireToken(String option, String text) {
        if (!text.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
            throw new IllegalArgumentException(option + " must be a token of HTTP, but is \"" + text + "\"");
        }
        return text;
    }

    /**
     * Builds the filter.
     *
     * @return the filter
     * @throws IllegalStateException if the engine has no store that can hold the protection
     */
    public IdempotencyFilter build() {
        if (!idempotency.protections().contains(protection)) {
            throw new IllegalStateException(
                    "The filter is to protect with " + protection + ", but the engine holds only "
                            + idempotency.protections() + ": give it a store that can, or choose another protection");
        }
        return new IdempotencyFilter(new FilterSettings(
                idempotency,
                headerName,
                syntax,
                keyFormat,
                methods,
                requests,
                annotatedOnly,
                new RequestPlan(null, protection, keyRequired, retention),
                scopes,
                fingerprints,
                requestLimits,
                responseLimits,
                headerLimit,
                maxWait,
                retryAfter,
                problemTypeBase,
                Map.copyOf(statuses),
                new ResponsePolicy(replayLimit, List.copyOf(keptHeaders)),
                refusals,
                unavailable));
    }
}
