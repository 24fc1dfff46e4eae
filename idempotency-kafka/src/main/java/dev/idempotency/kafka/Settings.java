package dev.idempotency.kafka;

import dev.idempotency.event.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/** What a {@link ConsumerLoop} needs to know, checked by the builder. */
record Settings(
        String name,
        List<String> topics,
        EventIdExtractor eventIds,
        MissingEventId missingEventId,
        RetryPolicy retry,
        GivingUp givingUp,
        Duration processingBudget,
        int maxPollRecords,
        String owner,
        LongSupplier nanos) {}
