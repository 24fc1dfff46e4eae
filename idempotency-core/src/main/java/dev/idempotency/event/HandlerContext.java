package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.KeyDerivation;
import dev.idempotency.transaction.Transaction;

/** The context of one run. */
record HandlerContext(ConsumerId consumer, EventId eventId, Transaction transaction, int attempt, KeyDerivation keys)
        implements EventContext {
    @Override
    public IdempotencyKey derive(String step) {
        return keys.derive(consumer, eventId, step);
    }
}
