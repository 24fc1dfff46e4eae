package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordCleanUp;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecordCleanUpTest {
    private static final Duration LEASE = Duration.ofHours(2);

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(database);

    private Claim claim(String key, Duration retention) {
        ClaimRequest request = new ClaimRequest(
                new RecordId(Scope.shared("clean-up"), IdempotencyKey.of(key)),
                Fingerprint.none(),
                retention,
                AbandonedPolicy.REPORT_UNKNOWN);
        return ((ClaimOutcome.Acquired) store.claim(request, LEASE)).claim();
    }

    private void complete(Claim claim) {
        assertThat(store.complete(claim, new Replayable(200, new byte[0], new byte[0])))
                .isTrue();
    }

    @Test
    void runOnce_deletesWhatHasExpiredAndNeverALiveClaim() {
        Claim running = claim("running", Duration.ofMinutes(1));
        complete(claim("expired", Duration.ofMinutes(1)));
        complete(claim("kept", Duration.ofHours(5)));
        database.passTime(Duration.ofHours(1));

        assertThat(RecordCleanUp.of(store).runOnce()).isEqualTo(1);

        assertThat(store.entries).hasSize(2);
        complete(running);
        assertThat(RecordCleanUp.of(store).runOnce()).isEqualTo(1);
        assertThat(store.entries).hasSize(1);
    }

    @Test
    void runOnce_moreThanABatch_deletesAllOfThem() {
        for (int i = 0; i < 2_500; i++) {
            complete(claim("key-" + i, Duration.ofMinutes(1)));
        }
        database.passTime(Duration.ofHours(1));

        assertThat(RecordCleanUp.of(store).runOnce()).isEqualTo(2_500);
        assertThat(store.entries).isEmpty();
    }

    @Test
    void start_storeFailsOnce_goesOnUntilItIsClosed() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        InMemoryIdempotencyStore failing = new InMemoryIdempotencyStore(database) {
            @Override
            public int deleteExpired(int limit) {
                third.countDown();
                if (runs.incrementAndGet() == 1) {
                    throw new StoreUnavailableException("asked for by the test", null);
                }
                return super.deleteExpired(limit);
            }
        };
        RecordCleanUp cleanUp = RecordCleanUp.of(failing, Duration.ofMillis(1));
        cleanUp.start();
        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();

        cleanUp.close();
        cleanUp.close();

        int runsAtTheEnd = runs.get();
        assertThat(cleanUp.runOnce()).as("after the end").isZero();
        assertThat(runs).hasValue(runsAtTheEnd);
    }

    @Test
    void close_notStarted_returns() {
        RecordCleanUp.of(store).close();
    }

    @Test
    void of_intervalOutOfRange_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RecordCleanUp.of(store, Duration.ZERO))
                .withMessageContaining("interval");
        assertThatIllegalArgumentException().isThrownBy(() -> RecordCleanUp.of(store, Duration.ofDays(2)));
    }
}
