package dev.idempotency.client;

/** What a provider's status 409 says about the request. */
public enum ConflictMeaning {
    /**
     * With a {@code Retry-After} header an attempt with the same key is in progress, so asking again is right; without
     * one it is the operation's own answer. What this library's server does.
     */
    IN_PROGRESS_IF_RETRY_AFTER,
    /** Always another attempt in progress. */
    IN_PROGRESS,
    /** Always the operation's own answer. */
    ANSWER
}
