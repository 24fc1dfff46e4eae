package dev.idempotency.client;

import java.net.http.HttpResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What became of one call; every expected situation is one of these, never an exception.
 *
 * @param <T> the type of the response's body
 */
public sealed interface CallOutcome<T extends @Nullable Object> {
    /**
     * Returns how many attempts this call made.
     *
     * @return 0 or more
     */
    int attempts();

    /**
     * The provider gave an answer that another attempt would not change: a success, or a refusal such as 400, 404 or 422.
     *
     * @param <T> the type of the response's body
     * @param response the answer, its body read by the caller's body handler
     * @param attempts how many attempts this call made
     */
    record Answered<T extends @Nullable Object>(HttpResponse<T> response, int attempts) implements CallOutcome<T> {}

    /**
     * No attempt of this call got as far as a connection, so the provider has seen nothing of it.
     *
     * <p>An earlier call with the same key may still have been acted upon.
     *
     * @param <T> the type of the response's body
     * @param reason why there are no more attempts
     * @param cause what the last attempt met
     * @param attempts how many attempts this call made
     */
    record NotSent<T extends @Nullable Object>(GiveUp reason, CallFailure.Broken cause, int attempts)
            implements CallOutcome<T> {}

    /**
     * The client gave up; the provider may or may not have acted. Another call with the same key and the same body finds
     * out.
     *
     * @param <T> the type of the response's body
     * @param reason why there are no more attempts
     * @param failure what the last attempt met
     * @param retryAfter how long the provider asked to wait before the next attempt; zero if it did not
     * @param attempts how many attempts this call made
     */
    record Unknown<T extends @Nullable Object>(GiveUp reason, CallFailure failure, Duration retryAfter, int attempts)
            implements CallOutcome<T> {}

    /**
     * The provider may have forgotten the key, so that another attempt could act a second time. Whether it has acted
     * must be found out in another way, with the provider's own look-up for instance.
     *
     * @param <T> the type of the response's body
     * @param age how old the key is, by the caller's word on its first use
     * @param attempts how many attempts this call made before; 0 if nothing was sent
     */
    record KeyExpired<T extends @Nullable Object>(Duration age, int attempts) implements CallOutcome<T> {}
}
