package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.RecordCleanUp;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.shutdown.ShutdownReport;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The clean-up of records ends with the application. */
@Timeout(60)
class RecordCleanUpShutdownTest {
    private final GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
    private final RecordCleanUp cleanUp =
            RecordCleanUp.of(InMemoryIdempotencyStore.of(InMemoryDatabase.create()), Duration.ofHours(24));

    @Test
    void shutdown_jobWaitsForItsNextRun_itEndsAtOnceAndIsWaitedFor() throws Exception {
        cleanUp.start(shutdown);

        ShutdownReport report = end();

        assertThat(report.clean()).isTrue();
        assertThat(report.steps())
                .filteredOn(step -> step.name().equals("record clean-up"))
                .hasSize(2);
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals("idempotency-clean-up"));
        assertThatIllegalStateException().isThrownBy(() -> cleanUp.start(shutdown));
    }

    @Test
    void close_before_leavesTheShutdown() throws Exception {
        cleanUp.start(shutdown);
        cleanUp.close();

        assertThat(end().steps()).noneMatch(step -> step.name().equals("record clean-up"));
    }

    private ShutdownReport end() throws Exception {
        return shutdown.shutdown(new Reason("test")).toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
}
