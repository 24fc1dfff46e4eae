package dev.idempotency.examples.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The example does what its README shows. */
final class TryRelayIT {
    @Test
    void main_publishesWhatWasCommittedAndNothingElse() {
        List<String> lines = run();

        assertThat(lines).anyMatch(line -> line.contains("rolled back with its event"));
        assertThat(lines)
                .filteredOn(line -> line.startsWith("in Kafka: "))
                .hasSize(3)
                .allMatch(line -> line.contains(", eventId "))
                .anyMatch(line -> line.contains("a book"))
                .anyMatch(line -> line.contains("a pen"))
                .anyMatch(line -> line.contains("a lamp"));
    }

    private static List<String> run() {
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            TryRelay.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
