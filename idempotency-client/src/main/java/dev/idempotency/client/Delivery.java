package dev.idempotency.client;

import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import java.net.http.HttpRequest;

/** One event that was handed over, and who is told of its end. */
record Delivery(OutboxRow row, HttpRequest request, PublishCallback callback, long handedOverNanos) {
    void end(PublishOutcome outcome) {
        callback.completed(row, outcome);
    }
}
