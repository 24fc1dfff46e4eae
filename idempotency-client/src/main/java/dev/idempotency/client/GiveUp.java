package dev.idempotency.client;

/** Why a call ended without an answer. */
public enum GiveUp {
    /** All attempts were used. */
    ATTEMPTS,
    /** The next attempt would have begun later than the call may last. */
    TIME,
    /** The provider asked for a longer wait than the client takes; {@link CallOutcome.Unknown#retryAfter()} has it. */
    RETRY_AFTER,
    /** The provider asked not to try again. */
    PROVIDER,
    /** The request was redirected to another origin, where no key protects it. */
    REDIRECTED,
    /** The answer came and could not be read; asking again would bring the same one. */
    UNREADABLE_ANSWER,
    /** The request's own body could not be read. */
    UNREADABLE_BODY,
    /** The process is shutting down. */
    SHUTTING_DOWN,
    /** The client was closed. */
    CLOSED
}
