package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The probes of a process that gets a real SIGTERM, asked from outside and from inside. */
@Timeout(60)
class ProbesIT {
    @Test
    void signal_readinessFailsAtOnceAndLivenessNever() throws Exception {
        try (ChildJvm child = ChildJvm.start(List.of(), ProbedProgram.class)) {
            child.awaitLine("PORT ");
            int port = Integer.parseInt(child.output().get(0).substring("PORT ".length()));
            assertThat(ProbedProgram.status(port, "/ready")).isEqualTo(200);
            assertThat(ProbedProgram.status(port, "/live")).isEqualTo(200);

            child.terminate();

            child.awaitLine("DRAINING");
            assertThat(ProbedProgram.status(port, "/ready")).isEqualTo(503);
            assertThat(ProbedProgram.status(port, "/live")).isEqualTo(200);
            child.endInput();
            assertThat(child.awaitExit()).isEqualTo(143);
            assertThat(child.output())
                    .filteredOn(line -> line.contains(" ready=") || line.equals("probes closed"))
                    .containsExactly(
                            "ANNOUNCE ready=503 live=200",
                            "STOP_INTAKE ready=503 live=200",
                            "DRAIN ready=503 live=200",
                            "RELEASE ready=503 live=200",
                            "CLOSE ready=503 live=200",
                            "probes closed");
            assertThatThrownBy(() -> ProbedProgram.status(port, "/live")).isInstanceOf(ConnectException.class);
        }
    }
}
