package dev.idempotency.jdbi;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.ClaimRequest;
import java.time.Duration;
import java.util.UUID;

/** Requests that nobody has made before. */
final class TestRequests {
    private TestRequests() {}

    static ClaimRequest fresh() {
        return new ClaimRequest(
                new RecordId(
                        Scope.shared("test"),
                        IdempotencyKey.of(UUID.randomUUID().toString())),
                Fingerprint.none(),
                Duration.ofHours(1),
                AbandonedPolicy.REPORT_UNKNOWN);
    }
}
