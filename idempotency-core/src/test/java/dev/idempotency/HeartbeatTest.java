package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
    private static final LeaseSettings SHORT = new LeaseSettings(Duration.ofSeconds(1), Duration.ofHours(1));

    /** As a pool without a free connection does: the one who asks waits, up to the pool's time-out. */
    @Test
    void extensionThatWaits_keepsNoOtherLeaseFromBeingExtended() throws Exception {
        WaitsForOne store = new WaitsForOne();
        try (Heartbeat heartbeat = new Heartbeat(store, SHORT, System::nanoTime)) {
            Lease waiting = heartbeat.keep(store.stuck, heartbeat.nanoTime());
            assertThat(store.waits.await(60, TimeUnit.SECONDS)).isTrue();

            Lease other = heartbeat.keep(claim("other"), heartbeat.nanoTime());

            assertThat(store.extended.await(60, TimeUnit.SECONDS))
                    .as("the other lease is extended, again and again")
                    .isTrue();
            assertThat(other.isValid()).isTrue();
            assertThat(store.asked)
                    .as("extensions of the waiting lease, of which one at a time waits")
                    .hasValue(1);
            waiting.stop();
            other.stop();
            store.goOn.countDown();
        }
    }

    private static Claim claim(String key) {
        RecordId id = new RecordId(Scope.shared("heartbeat"), IdempotencyKey.of(key));
        ClaimRequest request =
                new ClaimRequest(id, Fingerprint.none(), Duration.ofHours(1), AbandonedPolicy.REPORT_UNKNOWN);
        return new Claim(request, UUID.randomUUID(), 1, 1, "");
    }

    /** Only extends. */
    private static final class WaitsForOne implements LeasedIdempotencyStore {
        private final Claim stuck = HeartbeatTest.claim("stuck");
        private final CountDownLatch waits = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final CountDownLatch extended = new CountDownLatch(3);
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            if (!claim.equals(stuck)) {
                extended.countDown();
                return true;
            }
            asked.incrementAndGet();
            waits.countDown();
            try {
                return goOn.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean release(Claim claim) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean forget(RecordId id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int forgetCaller(Scope caller, int limit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int deleteExpired(int limit) {
            throw new UnsupportedOperationException();
        }
    }
}
