package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.testkit.LeasedIdempotencyStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlLeasedStoreContract extends LeasedIdempotencyStoreContract {
    private LeasedIdempotencyStore store;

    abstract TestDatabase database();

    @BeforeEach
    void connect() {
        database().execute("DELETE FROM idempotency_record");
        store = JdbiIdempotencyStore.of(database().dataSource());
    }

    @Override
    protected LeasedIdempotencyStore store() {
        return store;
    }

    @Override
    protected LeasedIdempotencyStore storeLosingTheCommit(boolean committed, Runnable meanwhile) {
        return JdbiIdempotencyStore.of(database().losingTheCommit(committed, meanwhile));
    }

    @Override
    protected void passTime(Duration duration) {
        database().passTime(duration);
    }

    @Override
    protected void setClockBack(Duration duration) {
        passTime(duration.negated());
        database()
                .execute("UPDATE idempotency_record SET fencing_token = fencing_token + " + duration.toNanos() / 1000);
    }

    /** Rows written before the clock was set back carry tokens from what is now the future. */
    @Test
    void claim_databaseClockSetBack_tokensStillGrow() {
        ClaimRequest request = new ClaimRequest(
                new RecordId(Scope.shared("clock"), IdempotencyKey.of("set-back")),
                Fingerprint.none(),
                Duration.ofHours(1),
                AbandonedPolicy.RUN_AGAIN);
        claim(request);
        long future = Long.MAX_VALUE / 2;
        database().execute("UPDATE idempotency_record SET fencing_token = " + future);
        passTime(Duration.ofMinutes(20));

        assertThat(claim(request).token()).isEqualTo(future + 1);
        passTime(Duration.ofHours(2));
        assertThat(claim(request).token()).as("after retention").isEqualTo(future + 2);
    }

    private Claim claim(ClaimRequest request) {
        return ((ClaimOutcome.Acquired) store.claim(request, Duration.ofMinutes(10))).claim();
    }
}
