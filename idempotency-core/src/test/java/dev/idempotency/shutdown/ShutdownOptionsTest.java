package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rule 4, the constructor's part, and the checks on values that callers pass. */
class ShutdownOptionsTest {
    @Test
    void rule4_reserveLeavesNothingForWork_isRefusedWithTheCure() {
        assertThatThrownBy(() -> GracefulShutdown.builder()
                        .grace(Duration.ofMillis(5_250))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("closeReserve", "PT5S", "PT5.25S", "raise grace");
        assertThat(GracefulShutdown.builder().grace(Duration.ofMillis(5_251)).build())
                .isNotNull();
    }

    @Test
    void build_lameDuckLeavesNoTimeForDraining_isRefused() {
        assertThatThrownBy(() -> GracefulShutdown.builder()
                        .lameDuck(Duration.ofMillis(19_750))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("lameDuck", "PT19.75S");
    }

    @Test
    void options_outOfRange_areRefusedByName() {
        GracefulShutdown.Builder builder = GracefulShutdown.builder();
        for (Duration bad : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
            assertThatThrownBy(() -> builder.grace(bad)).hasMessageStartingWith("grace is ");
            assertThatThrownBy(() -> builder.closeReserve(bad)).hasMessageStartingWith("closeReserve is ");
            assertThatThrownBy(() -> builder.lameDuck(bad)).hasMessageStartingWith("lameDuck is ");
        }
        for (int bad : List.of(0, 256, -1)) {
            assertThatThrownBy(() -> builder.forcedExitStatus(bad)).hasMessageStartingWith("forcedExitStatus is ");
        }
        assertThatThrownBy(() -> GracefulShutdown.builder()
                        .grace(Duration.ofDays(1).plusNanos(1))
                        .build())
                .hasMessageStartingWith("grace is ");
    }

    @Test
    void names_blank_areRefused() {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        assertThatThrownBy(() -> shutdown.on(Phase.CLOSE, " ", deadline -> {}))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> shutdown.watch("", () -> false)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Reason(" ")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void deadline_passes_nothingRemains() {
        ManualTime time = new ManualTime();
        Deadline deadline =
                new Deadline(time, time.nanoTime() + Duration.ofSeconds(3).toNanos());
        assertThat(deadline.remaining()).isEqualTo(Duration.ofSeconds(3));
        assertThat(deadline.isPast()).isFalse();

        time.advance(Duration.ofSeconds(4));

        assertThat(deadline.remaining()).isEqualTo(Duration.ZERO);
        assertThat(deadline.isPast()).isTrue();
    }

    @Test
    void deadlineAfter_zeroIsPastAndNegativeIsRefused() {
        assertThat(Deadline.after(Duration.ZERO).isPast()).isTrue();
        assertThat(Deadline.after(Duration.ofHours(1)).isPast()).isFalse();
        assertThatThrownBy(() -> Deadline.after(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }
}
