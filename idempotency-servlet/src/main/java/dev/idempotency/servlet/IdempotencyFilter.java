package dev.idempotency.servlet;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a request with an {@code Idempotency-Key} once, and gives every repeat the first answer; applications register it
 * after authentication and before dispatch.
 *
 * <p>Under {@link dev.idempotency.Protection#TRANSACTIONAL} a client sees a success only if the effect and its record
 * are committed. Nothing the chain writes reaches the client before. Safe for use by many threads.
 */
public final class IdempotencyFilter implements Filter {
    private static final Logger log = LoggerFactory.getLogger(IdempotencyFilter.class);

    private final FilterSettings settings;
    private final Idempotency idempotency;

    IdempotencyFilter(FilterSettings settings) {
        this.settings = settings;
        this.idempotency = settings.idempotency();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param idempotency the engine that runs the operations
     * @return the builder
     */
    public static IdempotencyFilterBuilder builder(Idempotency idempotency) {
        return new IdempotencyFilterBuilder(idempotency);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request.getDispatcherType() == DispatcherType.REQUEST
                && request instanceof HttpServletRequest httpRequest
                && response instanceof HttpServletResponse httpResponse
                && settings.appliesTo(httpRequest)) {
            new Exchange(httpRequest, httpResponse, chain).run();
        } else {
            chain.doFilter(request, response);
        }
    }

    /** Carries what the chain threw through the engine, untouched. */
    private static final class ChainException extends Exception {
        private static final long serialVersionUID = 1L;

        ChainException(Exception cause) {
            super(cause);
        }
    }

    /** One request and its answer. */
    private final class Exchange {
        private final HttpServletRequest request;
        private final HttpServletResponse response;
        private final FilterChain chain;

        Exchange(HttpServletRequest request, HttpServletResponse response, FilterChain chain) {
            this.request = request;
            this.response = response;
            this.chain = chain;
        }

        void run() throws IOException, ServletException {
            List<String> lines = Collections.list(request.getHeaders(settings.headerName()));
            KeyHeader.Parsed parsed = KeyHeader.parse(lines, settings.syntax());
            if (parsed instanceof KeyHeader.Parsed.Invalid invalid) {
                problem(ProblemCode.INVALID_KEY, "In the header " + settings.headerName() + ", " + invalid.reason());
            } else if (parsed instanceof KeyHeader.Parsed.Present present) {
                withKey(present);
            } else if (settings.keyRequired()) {
                problem(
                        ProblemCode.MISSING_KEY,
                        "Send the header " + settings.headerName() + " with a value that is unique to this operation"
                                + " and the same in every repeat of it");
            } else {
                chain.doFilter(request, response);
            }
        }

        private void withKey(KeyHeader.Parsed.Present parsed) throws IOException, ServletException {
            String operation = request.getMethod() + " " + request.getRequestURI();
            Scope scope;
            try {
                scope = settings.scopes().resolve(request, operation);
            } catch (RuntimeException e) {
                log.warn("The scope of a request to {} could not be resolved, so it is refused", operation, e);
                problem(ProblemCode.SCOPE_UNRESOLVED, "Nothing was looked up and nothing was done");
                return;
            }
            try (SpillBuffer body = new SpillBuffer(settings.requestLimits())) {
                if (readBody(body)) {
                    withBody(new RecordId(scope, parsed.key()), body);
                }
            }
        }

        private boolean readBody(SpillBuffer body) throws IOException {
            try {
                request.getInputStream().transferTo(body);
                return true;
            } catch (SpillBuffer.TooLargeException e) {
                problem(
                        ProblemCode.BODY_TOO_LARGE,
                        "A body has at most " + settings.requestLimits().total() + " bytes here");
            } catch (IOException e) {
                log.debug("A request's body ended early", e);
                problem(ProblemCode.INCOMPLETE_BODY, "The body ended before its end; send the request again");
            }
            return false;
        }

        private void withBody(RecordId id, SpillBuffer body) throws IOException, ServletException {
            Fingerprint fingerprint;
            try (InputStream input = body.open()) {
                fingerprint = settings.fingerprints().of(request, input);
            }
            Operation operation = Operation.of(id, fingerprint, settings.protection())
                    .withRetention(settings.retention())
                    .withMaxWait(settings.maxWait());
            try (SpillBuffer held = new SpillBuffer(settings.responseLimits())) {
                execute(operation, new ReplayableRequest(request, body), new BufferedResponse(response, held));
            }
        }

        private void execute(Operation operation, ReplayableRequest replayable, BufferedResponse buffered)
                throws IOException, ServletException {
            OperationOutcome outcome;
            try {
                outcome = idempotency.execute(operation, context -> runChain(context, replayable, buffered));
            } catch (ChainException e) {
                buffered.drop();
                rethrow(e);
                return;
            }
            if (outcome instanceof OperationOutcome.Executed) {
                buffered.deliver();
            } else {
                buffered.drop();
                answer(outcome);
            }
        }

        private void rethrow(ChainException carrier) throws IOException, ServletException {
            Throwable cause = carrier.getCause();
            if (cause instanceof IOException io) {
                throw io;
            }
            if (cause instanceof ServletException servlet) {
                throw servlet;
            }
            throw (RuntimeException) cause;
        }

        private WorkResult runChain(IdempotencyContext context, ReplayableRequest replayable, BufferedResponse buffered)
                throws ChainException {
            IdempotentRequest handle = new IdempotentRequest(context);
            handle.attachTo(replayable);
            try {
                chain.doFilter(replayable, buffered);
                return settings.policy().decide(handle.decision(), buffered.status(), recorded(buffered));
            } catch (IOException | ServletException | RuntimeException e) {
                throw new ChainException(e);
            } finally {
                handle.detachFrom(replayable);
            }
        }

        private RecordedResult recorded(BufferedResponse buffered) throws IOException {
            BufferedResponse.SentError error = buffered.error();
            if (error != null) {
                return new StoredResponse(error.status(), List.of(), true, error.message(), new byte[0]).toResult();
            }
            SpillBuffer body = buffered.body();
            if (body.size() > settings.replayLimit()) {
                return new RecordedResult.NotReplayable(
                        buffered.status(), "the response has more than " + settings.replayLimit() + " bytes");
            }
            return new StoredResponse(buffered.status(), keptHeaders(buffered), false, null, body.toBytes()).toResult();
        }

        private List<StoredResponse.Header> keptHeaders(BufferedResponse buffered) {
            List<StoredResponse.Header> kept = new ArrayList<>();
            String type = buffered.getContentType();
            if (type != null) {
                kept.add(new StoredResponse.Header("Content-Type", type));
            }
            for (String name : settings.keptHeaders()) {
                for (String value : buffered.getHeaders(name)) {
                    kept.add(new StoredResponse.Header(name, value));
                }
            }
            return kept;
        }

        private void answer(OperationOutcome outcome) throws IOException {
            if (outcome instanceof OperationOutcome.Replayed replayed) {
                replay(replayed.result());
            } else if (outcome instanceof OperationOutcome.Unavailable) {
                problem(ProblemCode.RESPONSE_UNAVAILABLE, "Look the result up by other means; it will not run again");
            } else if (outcome instanceof OperationOutcome.InProgress inProgress) {
                problem(ProblemCode.IN_PROGRESS, "Send the same request again later", inProgress.retryAfter());
            } else if (outcome instanceof OperationOutcome.Mismatch) {
                problem(ProblemCode.KEY_REUSED, "Use a new key for a new request");
            } else if (outcome instanceof OperationOutcome.Expired) {
                problem(ProblemCode.KEY_EXPIRED, "Use a new key, after making sure that the first request did not act");
            } else if (outcome instanceof OperationOutcome.Abandoned) {
                problem(ProblemCode.ABANDONED, "Look the result up by other means; it will not run again");
            } else if (outcome instanceof OperationOutcome.ShuttingDown) {
                problem(ProblemCode.SHUTTING_DOWN, "Nothing was done; send the request again", settings.retryAfter());
            } else if (outcome instanceof OperationOutcome.StoreUnavailable unavailable) {
                log.warn("A request was not processed, because its key could not be checked", unavailable.cause());
                problem(
                        ProblemCode.STORE_UNAVAILABLE,
                        "Nothing was done; send the same request again",
                        settings.retryAfter());
            } else if (outcome instanceof OperationOutcome.NotCommitted lost) {
                log.info("A request's transaction was not committed", lost.cause());
                problem(
                        ProblemCode.NOT_COMMITTED,
                        "Nothing was done; send the same request again",
                        settings.retryAfter());
            } else if (outcome instanceof OperationOutcome.Unknown unknown) {
                log.warn("Whether a request was committed is not known; its repeat will tell", unknown.cause());
                problem(
                        ProblemCode.OUTCOME_UNKNOWN,
                        "Send the same request again with the same key",
                        settings.retryAfter());
            } else {
                throw new IllegalStateException("An outcome without an answer: " + outcome);
            }
        }

        private void replay(RecordedResult.Replayable result) throws IOException {
            StoredResponse stored;
            try {
                stored = StoredResponse.of(result);
            } catch (StoredResponse.UnreadableException e) {
                log.warn("A stored response cannot be read; its operation is over and does not run again", e);
                problem(ProblemCode.RESPONSE_UNAVAILABLE, "Look the result up by other means; it will not run again");
                return;
            }
            response.setHeader("Idempotent-Replayed", "true");
            if (stored.error()) {
                response.sendError(stored.status(), stored.message());
                return;
            }
            response.setStatus(stored.status());
            for (StoredResponse.Header header : stored.headers()) {
                if (header.name().equals("Content-Type")) {
                    response.setContentType(header.value());
                } else {
                    response.addHeader(header.name(), header.value());
                }
            }
            if (stored.body().length > 0) {
                response.setContentLength(stored.body().length);
                response.getOutputStream().write(stored.body());
            }
            response.flushBuffer();
        }

        private void problem(ProblemCode code, String detail) throws IOException {
            problem(code, detail, null);
        }

        private void problem(ProblemCode code, String detail, @Nullable Duration retryAfter) throws IOException {
            log.debug("{} {} is answered {}", request.getMethod(), request.getRequestURI(), code);
            new Problem(code, settings.statusOf(code), detail, retryAfter).send(response, settings.problemTypeBase());
        }
    }
}
