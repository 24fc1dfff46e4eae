package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.spi.AbandonedPolicy;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** What the owner of a lease knows by its own, monotonic clock, which these tests turn by hand. */
class LeaseClockTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

    private Idempotency engine(LeaseSettings settings) {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        SchemaInstaller.of(h2).install();
        return Idempotency.builder()
                .leased(JdbiIdempotencyStore.of(h2))
                .lease(settings)
                .ticker(nanos::get)
                .build();
    }

    private static Operation operation() {
        RecordId id = new RecordId(
                Scope.shared("charge"), IdempotencyKey.of(UUID.randomUUID().toString()));
        return Operation.of(id, Fingerprint.none(), Protection.LEASED).withAbandoned(AbandonedPolicy.RUN_AGAIN);
    }

    @Test
    void isLeaseValid_untilTheLeaseMayHaveEnded() {
        Duration lease = Duration.ofHours(1);
        try (Idempotency idempotency = engine(new LeaseSettings(lease, Duration.ofHours(2)))) {
            LeasedOperation running = ((LeasedStart.Started) idempotency.begin(operation())).operation();
            // The clock has not yet run over the largest long, and the lease's end has.
            assertThat(running.context().isLeaseValid()).isTrue();
            nanos.addAndGet(lease.toNanos() - 1);
            assertThat(running.context().isLeaseValid()).isTrue();
            nanos.addAndGet(1);
            assertThat(running.context().isLeaseValid()).isFalse();
        }
    }

    /** Work that hangs frees its key in the end: nobody extends its lease any more. */
    @Test
    void heartbeat_pastItsLongestLife_letsTheLeaseEnd() {
        Duration longest = Duration.ofHours(1);
        try (Idempotency idempotency = engine(new LeaseSettings(Duration.ofSeconds(1), longest))) {
            Operation operation = operation();
            LeasedOperation hanging = ((LeasedStart.Started) idempotency.begin(operation)).operation();
            nanos.addAndGet(longest.toNanos());
            Awaitility.await()
                    .atMost(DEADLINE)
                    .until(() -> idempotency.begin(operation) instanceof LeasedStart.Started);
            assertThat(hanging.context().isLeaseValid()).isFalse();
        }
    }
}
