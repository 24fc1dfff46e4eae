package dev.idempotency.servlet;

import dev.idempotency.OperationOutcome;
import dev.idempotency.RecordedResult;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers in the chain's place: replays what was stored, and tells what stands in the way as a problem document. */
final class Answers {
    private static final Logger log = LoggerFactory.getLogger(Answers.class);

    private static final String NEVER_AGAIN = "Look the result up by other means; it will not run again";
    private static final String NOTHING_DONE = "Nothing was done; send the same request again";

    private final FilterSettings settings;

    Answers(FilterSettings settings) {
        this.settings = settings;
    }

    /** Answers every outcome but that of work which ran and whose own answer goes out. */
    void answer(OperationOutcome outcome, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (outcome instanceof OperationOutcome.Replayed replayed) {
            replay(replayed.result(), request, response);
        } else if (outcome instanceof OperationOutcome.Unavailable unavailable) {
            unavailable(request, response, unavailable.result().status());
        } else if (outcome instanceof OperationOutcome.InProgress inProgress) {
            problem(response, ProblemCode.IN_PROGRESS, "Send the same request again later", inProgress.retryAfter());
        } else if (outcome instanceof OperationOutcome.Mismatch) {
            problem(response, ProblemCode.KEY_REUSED, "Use a new key for a new request");
        } else if (outcome instanceof OperationOutcome.Expired) {
            problem(
                    response,
                    ProblemCode.KEY_EXPIRED,
                    "Use a new key, after making sure that the first request did not act");
        } else if (outcome instanceof OperationOutcome.Abandoned) {
            problem(response, ProblemCode.ABANDONED, NEVER_AGAIN);
        } else {
            answerLater(outcome, response);
        }
    }

    /** The outcomes that a repeat may change. */
    private void answerLater(OperationOutcome outcome, HttpServletResponse response) throws IOException {
        if (outcome instanceof OperationOutcome.ShuttingDown) {
            problem(response, ProblemCode.SHUTTING_DOWN, NOTHING_DONE, settings.retryAfter());
        } else if (outcome instanceof OperationOutcome.StoreUnavailable unavailable) {
            log.warn("A request was not processed, because its key could not be checked", unavailable.cause());
            problem(response, ProblemCode.STORE_UNAVAILABLE, NOTHING_DONE, settings.retryAfter());
        } else if (outcome instanceof OperationOutcome.NotCommitted lost) {
            log.info("A request's transaction was not committed", lost.cause());
            problem(response, ProblemCode.NOT_COMMITTED, NOTHING_DONE, settings.retryAfter());
        } else if (outcome instanceof OperationOutcome.Unknown unknown) {
            log.warn("Whether a request was committed is not known; its repeat will tell", unknown.cause());
            problem(
                    response,
                    ProblemCode.OUTCOME_UNKNOWN,
                    "Send the same request again with the same key",
                    settings.retryAfter());
        } else {
            throw new IllegalStateException("An outcome without an answer: " + outcome);
        }
    }

    private void unavailable(HttpServletRequest request, HttpServletResponse response, int status) throws IOException {
        if (!settings.unavailable().answer(request, response, status)) {
            problem(response, ProblemCode.RESPONSE_UNAVAILABLE, NEVER_AGAIN);
        }
    }

    private void replay(RecordedResult.Replayable result, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        StoredResponse stored;
        try {
            stored = StoredResponse.of(result);
        } catch (StoredResponse.UnreadableException e) {
            log.warn("A stored response cannot be read; its operation is over and does not run again", e);
            unavailable(request, response, result.status());
            return;
        }
        response.setHeader("Idempotent-Replayed", "true");
        response.setHeader("Cache-Control", "no-store");
        Set<String> replaced = new HashSet<>();
        for (StoredResponse.Header header : stored.headers()) {
            if (header.name().equals("Content-Type")) {
                response.setContentType(header.value());
            } else if (replaced.add(header.name())) {
                // What a filter before this one sets was stored with the rest and must not stand there twice.
                response.setHeader(header.name(), header.value());
            } else {
                response.addHeader(header.name(), header.value());
            }
        }
        if (stored.error()) {
            response.sendError(stored.status(), stored.message());
            return;
        }
        response.setStatus(stored.status());
        if (stored.body().length > 0) {
            response.setContentLength(stored.body().length);
            response.getOutputStream().write(stored.body());
        }
        response.flushBuffer();
    }

    /** Refuses a request whose key is not looked up. */
    void refuse(HttpServletResponse response, ProblemCode code, String detail) throws IOException {
        try {
            settings.refusals().onRefusal(code);
        } catch (Exception | LinkageError e) {
            // A listener may throw what it does not declare, and a library of metrics may be incomplete.
            log.warn("The listener failed on a refusal, {}; the request is refused all the same", code, e);
        }
        problem(response, code, detail);
    }

    private void problem(HttpServletResponse response, ProblemCode code, String detail) throws IOException {
        problem(response, code, detail, code.retryable() ? settings.retryAfter() : null);
    }

    private void problem(HttpServletResponse response, ProblemCode code, String detail, @Nullable Duration retryAfter)
            throws IOException {
        log.debug("A request is answered {}", code);
        new Problem(code, settings.statusOf(code), detail, retryAfter).send(response, settings.problemTypeBase());
    }
}
