package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SoakOptionsTest {
    @Test
    void from_nothing_givesDefaults() throws Exception {
        SoakOptions options = SoakOptions.from(Map.of("demo.orders", "no number"));

        assertThat(options.length()).isEqualTo(Duration.ofMinutes(10));
        assertThat(options.clients()).isEqualTo(8);
        assertThat(options.guarded()).isTrue();
        assertThat(options.report()).isNull();
    }

    @Test
    void from_allGiven_takesThemAndTellsHowToRepeat(@TempDir Path folder) throws Exception {
        Path report = folder.resolve("report.html");

        SoakOptions options = SoakOptions.from(
                Map.of("soak.minutes", "3", "soak.clients", "5", "soak.seed", "42", "soak.report", report.toString()));

        assertThat(options).isEqualTo(new SoakOptions(3, 5, 42, report.toAbsolutePath()));
        assertThat(options.command()).isEqualTo("mvn -q -Psoak -Dsoak.minutes=3 -Dsoak.clients=5 -Dsoak.seed=42");
    }

    @Test
    void from_badValue_namesOptionValueAndRange() {
        assertRefused("soak.minutes", "0", "soak.minutes=0: must be a whole number from 1 to 240");
        assertRefused("soak.clients", "many", "soak.clients=many: must be a whole number from 1 to 64");
        assertRefused("soak.seed", "-1", "soak.seed=-1: must be a whole number from 0 to " + Long.MAX_VALUE);
        assertRefused(
                "soak.report",
                "/no/such/folder/report.html",
                "soak.report=/no/such/folder/report.html: must be a file in a folder that exists and can be written");
    }

    @Test
    void from_unknownOption_namesItAndTheOthers() {
        assertRefused(
                "soak.guard",
                "off",
                "soak.guard: unknown option, the options are soak.minutes, soak.clients, soak.seed, soak.report");
    }

    private static void assertRefused(String name, String value, String message) {
        assertThatThrownBy(() -> SoakOptions.from(Map.of(name, value)))
                .isInstanceOf(InvalidOptionException.class)
                .hasMessage(message);
    }
}
