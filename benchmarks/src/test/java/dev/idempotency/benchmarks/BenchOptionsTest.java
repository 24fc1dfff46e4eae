package dev.idempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BenchOptionsTest {
    private static final List<String> SUITES = List.of("http", "store");

    @Test
    void from_suiteAlone_isFiveRuns() throws InvalidOptionException {
        BenchOptions options = BenchOptions.from(Map.of("bench", "store", "java.home", "/opt"), SUITES);

        assertThat(options.suites()).containsExactly("store");
        assertThat(options.settings().quick()).isFalse();
        assertThat(options.settings().runs()).isEqualTo(5);
        assertThat(options.settings().length()).isEqualTo(Duration.ofSeconds(4));
        assertThat(options.settings().rows()).isEqualTo(1_000_000);
        assertThat(options.settings().clients()).isEqualTo(8);
    }

    @Test
    void from_all_isEverySuite() throws InvalidOptionException {
        assertThat(BenchOptions.from(Map.of("bench", "all"), SUITES).suites()).isEqualTo(SUITES);
    }

    @Test
    void from_quick_isOneShortRun() throws InvalidOptionException {
        BenchOptions options = BenchOptions.from(Map.of("bench", "http", "bench.quick", "true"), SUITES);

        assertThat(options.settings().runs()).isEqualTo(1);
        assertThat(options.settings().length()).isLessThan(Duration.ofSeconds(1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            bench         | disk | bench=disk: must be one of http, store or all
            bench         |      | bench=: must be one of http, store or all
            bench.runs    | 4    | bench.runs=4: must be a whole number from 5 to 100
            bench.runs    | five | bench.runs=five: must be a whole number from 5 to 100
            bench.seconds | 0    | bench.seconds=0: must be a whole number from 1 to 600
            bench.rows    | 9999 | bench.rows=9999: must be a whole number from 10000 to 100000000
            bench.clients | 65   | bench.clients=65: must be a whole number from 1 to 64
            bench.quick   | yes  | bench.quick=yes: must be true or false
            """)
    void from_valueOutOfRange_isOneLineWithOptionValueAndRange(String name, String value, String message) {
        Map<String, String> properties =
                name.equals("bench") ? Map.of(name, value == null ? "" : value) : Map.of("bench", "store", name, value);

        assertThatExceptionOfType(InvalidOptionException.class)
                .isThrownBy(() -> BenchOptions.from(properties, SUITES))
                .withMessage(message);
    }

    @Test
    void from_unknownName_namesTheKnownOnes() {
        assertThatExceptionOfType(InvalidOptionException.class)
                .isThrownBy(() -> BenchOptions.from(Map.of("bench", "store", "bench.threads", "2"), SUITES))
                .withMessage("bench.threads: unknown option, the options are bench, bench.clients, bench.only,"
                        + " bench.quick, bench.rows, bench.runs, bench.seconds");
    }
}
