package dev.idempotency.kafka;

import org.jspecify.annotations.Nullable;

/** A record that no handler may see: it has no event id. */
final class RejectedRecordException extends Exception {
    private static final long serialVersionUID = 1L;

    RejectedRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
