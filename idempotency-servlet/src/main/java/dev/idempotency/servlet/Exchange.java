package dev.idempotency.servlet;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.LeasedOperation;
import dev.idempotency.LeasedStart;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request on its way from its header to its answer. */
final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final FilterSettings settings;
    private final Answers answers;
    private final RequestPlan plan;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final FilterChain chain;
    private boolean answering;

    Exchange(
            FilterSettings settings,
            Answers answers,
            RequestPlan plan,
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain) {
        this.settings = settings;
        this.answers = answers;
        this.plan = plan;
        this.request = request;
        this.response = response;
        this.chain = chain;
    }

    /** Carries what the chain or the answer threw through the engine, untouched. */
    private static final class ChainException extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Exception carried;

        ChainException(Exception carried) {
            super(carried);
            this.carried = carried;
        }

        RuntimeException rethrown() throws IOException, ServletException {
            if (carried instanceof IOException io) {
                throw io;
            }
            if (carried instanceof ServletException servlet) {
                throw servlet;
            }
            return (RuntimeException) carried;
        }
    }

    void run() throws IOException, ServletException {
        List<String> lines = Collections.list(request.getHeaders(settings.headerName()));
        KeyHeader.Parsed parsed = KeyHeader.parse(lines, settings.syntax());
        if (parsed instanceof KeyHeader.Parsed.Invalid invalid) {
            answers.refuse(
                    response,
                    ProblemCode.INVALID_KEY,
                    "In the header " + settings.headerName() + ", " + invalid.reason());
        } else if (parsed instanceof KeyHeader.Parsed.Present present) {
            if (settings.keyFormat().matcher(present.key().value()).matches()) {
                withKey(present);
            } else {
                answers.refuse(
                        response,
                        ProblemCode.INVALID_KEY,
                        "In the header " + settings.headerName() + ", the key must match " + settings.keyFormat());
            }
        } else if (plan.keyRequired()) {
            answers.refuse(
                    response,
                    ProblemCode.MISSING_KEY,
                    "Send the header " + settings.headerName() + " with a value that is unique to this operation"
                            + " and the same in every repeat of it");
        } else {
            chain.doFilter(request, response);
        }
    }

    private void withKey(KeyHeader.Parsed.Present parsed) throws IOException, ServletException {
        String operation = plan.operation() == null ? OperationName.of(request) : plan.operation();
        Scope scope;
        try {
            scope = settings.scopes().resolve(request, operation);
        } catch (RuntimeException e) {
            log.warn("The scope of a request to {} could not be resolved, so it is refused", operation, e);
            answers.refuse(response, ProblemCode.SCOPE_UNRESOLVED, "Nothing was looked up and nothing was done");
            return;
        }
        withScope(new RecordId(scope, parsed.key()));
    }

    private void withScope(RecordId id) throws IOException, ServletException {
        RequestBody body = readBody();
        if (body == null) {
            return;
        }
        Buffers buffers = new Buffers(body, new SpillBuffer(settings.responseLimits()));
        try {
            Operation operation;
            try {
                operation = operation(id, body);
            } catch (RefusedBodyException e) {
                log.debug("A body was refused for its fingerprint", e);
                answers.refuse(response, e.code(), e.detail());
                return;
            }
            if (plan.protection() == Protection.TRANSACTIONAL) {
                runTransactional(operation, buffers);
            } else {
                runLeased(operation, buffers);
            }
        } finally {
            buffers.closeUnlessKept();
        }
    }

    /** Reads the body; null after the request has been refused for it. */
    private @Nullable RequestBody readBody() throws IOException {
        try {
            return RequestBody.read(request, settings.requestLimits());
        } catch (SpillBuffer.TooLargeException e) {
            answers.refuse(
                    response,
                    ProblemCode.BODY_TOO_LARGE,
                    "A body has at most " + settings.requestLimits().total() + " bytes here");
        } catch (RequestBody.MalformedException e) {
            log.debug("A multipart body or a form was refused", e);
            answers.refuse(response, ProblemCode.MALFORMED_BODY, "The body is not what its Content-Type says");
        } catch (SpillBuffer.SpillException e) {
            throw e;
        } catch (IOException e) {
            log.debug("A request's body ended early", e);
            answers.refuse(
                    response, ProblemCode.INCOMPLETE_BODY, "The body ended before its end; send the request again");
        }
        return null;
    }

    private Operation operation(RecordId id, RequestBody body) throws IOException {
        Fingerprint fingerprint;
        try (InputStream input = body.comparable()) {
            fingerprint = settings.fingerprints().of(request, input);
        }
        return Operation.of(id, fingerprint, plan.protection())
                .withRetention(plan.retention())
                .withMaxWait(settings.maxWait());
    }

    private void runTransactional(Operation operation, Buffers buffers) throws IOException, ServletException {
        ReplayableRequest replayable = new ReplayableRequest(request, buffers.requestBody(), null);
        HeldResponse holding = new HeldResponse(response, buffers.responseBody(), settings.headerLimit(), null);
        try {
            settings.idempotency()
                    .execute(
                            operation,
                            context -> runChain(context, replayable, holding),
                            outcome -> answer(outcome, holding),
                            StoredResponse::isReadable);
        } catch (ChainException e) {
            throw e.rethrown();
        } finally {
            if (!answering) {
                holding.drop();
            }
        }
    }

    private void answer(OperationOutcome outcome, HeldResponse holding) throws ChainException {
        answering = true;
        try {
            if (outcome instanceof OperationOutcome.Executed) {
                holding.release();
            } else {
                holding.drop();
                answer(outcome);
            }
        } catch (IOException e) {
            throw new ChainException(e);
        }
    }

    /** Answers in the chain's place; when the process is ending, the connection ends too, so that nobody reuses it. */
    private void answer(OperationOutcome outcome) throws IOException {
        if (outcome instanceof OperationOutcome.ShuttingDown
                && request.getProtocol().startsWith("HTTP/1.")) {
            response.setHeader("Connection", "close");
        }
        answers.answer(outcome, request, response);
    }

    private WorkResult runChain(IdempotencyContext context, ReplayableRequest replayable, HeldResponse holding)
            throws ChainException {
        IdempotentRequest handle = new IdempotentRequest(context, holding);
        handle.attachTo(replayable);
        try {
            chain.doFilter(replayable, Opaque.shield(holding, response));
            holding.prepare();
            return settings.policy().decide(handle, holding);
        } catch (IOException | ServletException | RuntimeException e) {
            throw new ChainException(e);
        } finally {
            handle.detachFrom(replayable);
        }
    }

    private void runLeased(Operation operation, Buffers buffers) throws IOException, ServletException {
        LeasedStart start = settings.idempotency().begin(operation, StoredResponse::isReadable);
        if (start instanceof LeasedStart.NotStarted notStarted) {
            answer(notStarted.outcome());
            return;
        }
        buffers.keep();
        LeasedOperation running = ((LeasedStart.Started) start).operation();
        new LeasedExchange(settings, answers, running, buffers, request, response).run(chain);
    }
}
