package dev.idempotency.client;

import java.time.Duration;

/** What an answer's status and headers mean for the call; {@link KeyPolicy#advise} gives it. */
public sealed interface RetryAdvice {
    /** It is the provider's answer, and another attempt would not change it. */
    record Answer() implements RetryAdvice {}

    /**
     * Another attempt, with the same key and the same bytes, may bring the answer.
     *
     * @param notBefore how long the provider asks to wait; zero if it does not
     */
    record Retry(Duration notBefore) implements RetryAdvice {}

    /** Whether the provider acted is open, and it asks not to be asked again. */
    record Stop() implements RetryAdvice {}
}
