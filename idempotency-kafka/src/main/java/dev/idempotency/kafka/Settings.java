package dev.idempotency.kafka;

import dev.idempotency.event.RetryPolicy;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What a {@link ConsumerLoop} needs to know, checked by the builder. */
record Settings(
        String name,
        Subscription subscription,
        EventIdExtractor eventIds,
        MissingEventId missingEventId,
        RetryPolicy retry,
        GivingUp givingUp,
        TransactionLimits limits,
        @Nullable Duration markRetention,
        Duration processingBudget,
        int maxPollRecords,
        String owner,
        Duration betweenLooks,
        LongSupplier nanos) {}
