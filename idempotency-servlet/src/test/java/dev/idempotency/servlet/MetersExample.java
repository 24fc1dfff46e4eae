package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.TransactionRunner;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.Filter;

/** The code that the module's page shows, compiled. */
final class MetersExample {
    private MetersExample() {}

    static Filter filter(TransactionalIdempotencyStore store, TransactionRunner runner, MeterRegistry registry) {
        IdempotencyMeters meters = IdempotencyMeters.of(registry);
        Idempotency idempotency = Idempotency.builder()
                .transactional(store, runner)
                .listener(meters)
                .build();
        return IdempotencyFilter.builder(idempotency).refusals(meters).build();
    }
}
