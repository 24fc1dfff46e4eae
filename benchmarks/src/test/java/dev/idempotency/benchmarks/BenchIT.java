package dev.idempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One contest of one suite, in the quick form: the figures mean nothing, the way to them is that of the long form. */
final class BenchIT {
    @TempDir
    Path folder;

    @Test
    void run_oneContest_writesTheReports() throws IOException {
        int status = Bench.run(folder, Map.of("bench", "store", "bench.quick", "true", "bench.only", "repeat"));

        assertThat(status).isZero();
        JsonNode rows = new ObjectMapper().readTree(Files.readString(folder.resolve("store.json")));
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).get("case").asText()).isEqualTo("repeat: replay");
        assertThat(rows.get(0).get("value").asDouble()).isPositive();
        assertThat(rows.get(0).get("baselineValue").asDouble()).isPositive();
        assertThat(rows.get(0).get("machine").get("PostgreSQL").asText()).contains("fsync=on", "synchronous_commit=on");
        assertThat(folder.resolve("store.html")).content().contains("<svg").doesNotContain("http:", "https:");
    }

    @Test
    void run_badOption_isStatusTwo() throws IOException {
        assertThat(Bench.run(folder, Map.of("bench", "disk"))).isEqualTo(2);
        assertThat(folder).isEmptyDirectory();
    }
}
