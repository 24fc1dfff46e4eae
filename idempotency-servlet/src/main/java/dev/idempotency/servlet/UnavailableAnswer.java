package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers a repeat whose first answer was not kept, because it was too large, was streamed, or ended in doubt; users who can
 * tell the result from their own data implement it and give it to {@link IdempotencyFilterBuilder#unavailable}.
 *
 * <p>The operation is over, and it must not be done again here: an implementation reads. It runs outside the operation, with
 * no transaction of the library open. Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface UnavailableAnswer {
    /**
     * Answers, or leaves it to the filter.
     *
     * @param request the repeat; its body has been read
     * @param response the response, on which nothing has been set
     * @param status the status of the first answer; 0 where the work ended with an exception and had none
     * @return true if the response has been given; false for 409 {@link ProblemCode#RESPONSE_UNAVAILABLE}
     * @throws IOException if the answer cannot be sent
     */
    boolean answer(HttpServletRequest request, HttpServletResponse response, int status) throws IOException;
}
