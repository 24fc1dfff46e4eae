package dev.idempotency.servlet;

import dev.idempotency.IdempotencyContext;
import jakarta.servlet.ServletRequest;
import java.io.IOException;
import java.util.Optional;

/**
 * What a handler may know of the key its request runs under, and decide about its answer.
 *
 * <p>Found by {@link #of}; belongs to one request. Its decisions may be made by whichever thread answers.
 */
public final class IdempotentRequest {
    private static final String ATTRIBUTE = IdempotentRequest.class.getName();

    private final IdempotencyContext context;
    private final HeldResponse response;
    private volatile Decision decision = Decision.BY_STATUS;

    enum Decision {
        BY_STATUS,
        COMMIT,
        ROLL_BACK_AND_KEEP,
        ROLL_BACK_AND_FORGET
    }

    IdempotentRequest(IdempotencyContext context, HeldResponse response) {
        this.context = context;
        this.response = response;
    }

    /**
     * Returns the key's side of this request.
     *
     * @param request the request as the handler sees it
     * @return empty if the request runs without a key
     */
    public static Optional<IdempotentRequest> of(ServletRequest request) {
        return Optional.ofNullable((IdempotentRequest) request.getAttribute(ATTRIBUTE));
    }

    void attachTo(ServletRequest request) {
        request.setAttribute(ATTRIBUTE, this);
    }

    void detachFrom(ServletRequest request) {
        request.removeAttribute(ATTRIBUTE);
    }

    /**
     * Returns key, attempt, transaction and derived keys.
     *
     * @return the context of the operation
     */
    public IdempotencyContext context() {
        return context;
    }

    /** Commits the work and keeps the answer, whatever its status: for a refusal that has an effect of its own. */
    public void commitAndKeep() {
        decision = Decision.COMMIT;
    }

    /** Rolls the work back and keeps the answer, whatever its status: repeats get this answer. */
    public void rollBackAndKeep() {
        decision = Decision.ROLL_BACK_AND_KEEP;
    }

    /**
     * Rolls the work back and keeps nothing, whatever the status: a repeat runs.
     *
     * <p>Under {@link dev.idempotency.Protection#LEASED} it also declares that nothing happened outside.
     */
    public void rollBackAndForget() {
        decision = Decision.ROLL_BACK_AND_FORGET;
        context.markNoEffect();
    }

    /**
     * Lets the answer leave as it is written, from here on: for answers without an end in sight.
     *
     * <p>Before the first byte leaves, the operation is recorded as over and its answer as not replayable: repeats are
     * told {@link ProblemCode#RESPONSE_UNAVAILABLE}. Status and headers must have been set before. An answer of the type
     * {@code text/event-stream}, or one larger than the response limit, is streamed without being asked.
     *
     * @throws IOException if that could not be recorded; nothing leaves then
     * @throws IllegalStateException under {@link dev.idempotency.Protection#TRANSACTIONAL}, where nothing may leave
     *     before the commit, or if the response has ended
     */
    public void stream() throws IOException {
        response.goLive();
    }

    Decision decision() {
        return decision;
    }
}
