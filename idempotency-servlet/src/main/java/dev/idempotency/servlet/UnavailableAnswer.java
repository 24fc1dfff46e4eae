package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers a request whose operation is over and whose answer was not kept, because it was too large, was streamed, could not be
 * read, or ended in doubt; users who can tell the result from their own data implement it and give it to {@link
 * IdempotencyFilterBuilder#unavailable}.
 *
 * <p>The request is a repeat, or the first one itself: when its commit got no answer, the record that it left is looked up, and
 * that may say that its answer was too large to be kept.
 *
 * <p>The operation is over, and it must not be done again here: an implementation reads. It runs outside the operation, with
 * no transaction of the library open. Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface UnavailableAnswer {
    /**
     * Answers, or leaves it to the filter.
     *
     * @param request the repeat, or the first request; its body has been read
     * @param response the response, on which nothing has been set
     * @param status the status of the first answer; 0 where the work ended with an exception and had none
     * @return true if the response has been given; false for 409 {@link ProblemCode#RESPONSE_UNAVAILABLE}
     * @throws IOException if the answer cannot be sent
     */
    boolean answer(HttpServletRequest request, HttpServletResponse response, int status) throws IOException;
}
