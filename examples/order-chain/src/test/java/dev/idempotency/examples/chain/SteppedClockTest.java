package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.chain.service.ServiceSettings;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SteppedClockTest {
    @TempDir
    private Path folder;

    @Test
    void step_isSeenByAServiceThatReadsTheClock() {
        SteppedClock clock = new SteppedClock(folder, ServiceName.ORDERS, new SplittableRandom(7));
        clock.draw();
        ServiceSettings settings = ServiceSettings.fromArguments(new ServiceSettings(
                        true, "jdbc:", "kafka", URI.create("http://provider"), Duration.ofSeconds(6), clock.file())
                .toArguments()
                .toArray(String[]::new));
        Instant before = settings.wallClock().instant();

        assertThat(clock.step(-1_000)).isEqualTo(-1_000);

        assertThat(Duration.between(before, settings.wallClock().instant()))
                .isBetween(Duration.ofSeconds(-1_001), Duration.ofSeconds(-990));
    }

    @Test
    void draw_isWrongByMinutesAtMost() throws Exception {
        SteppedClock clock = new SteppedClock(folder, ServiceName.ORDERS, new SplittableRandom(7));
        for (int start = 0; start < 100; start++) {
            clock.draw();
            assertThat(seconds(clock)).isBetween(-600L, 600L);
        }
    }

    @Test
    void step_tooFarAhead_stopsBelowAnHour() throws Exception {
        SteppedClock clock = new SteppedClock(folder, ServiceName.ORDERS, new SplittableRandom(7));
        clock.draw();
        long before = seconds(clock);

        long stepped = clock.step(10_000);

        assertThat(before + stepped).isEqualTo(seconds(clock)).isEqualTo(3_000);
    }

    private static long seconds(SteppedClock clock) throws Exception {
        return Long.parseLong(Files.readString(clock.file()).strip());
    }
}
