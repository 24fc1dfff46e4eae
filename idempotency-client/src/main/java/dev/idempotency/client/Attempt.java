package dev.idempotency.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What one attempt came to. */
sealed interface Attempt<T extends @Nullable Object> {
    /** Another one is to follow after a wait. */
    record Again<T extends @Nullable Object>(Duration pause) implements Attempt<T> {}

    /** The call is over. */
    record Over<T extends @Nullable Object>(CallOutcome<T> outcome) implements Attempt<T> {}
}
