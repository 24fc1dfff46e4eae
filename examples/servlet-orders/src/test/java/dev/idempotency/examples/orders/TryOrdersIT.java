package dev.idempotency.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The example does what its README shows. */
final class TryOrdersIT {
    @Test
    void main_showsOneOrderPerKey() throws Exception {
        List<String> lines = run();

        assertThat(lines).hasSize(8);
        assertThat(lines.get(0)).contains("a first order").contains(" 201 ");
        assertThat(lines.get(1)).contains(" 201 (replayed) ").endsWith(body(lines.get(0)));
        assertThat(lines.get(2)).contains(" 422 ");
        assertThat(lines.get(3)).contains(" 400 ");
        assertThat(lines.get(4) + lines.get(5)).contains(" 201 ");
        assertThat(lines.get(6)).contains(" 201 (replayed) ");
        assertThat(lines.get(7)).isEqualTo("orders in the database: 2");
    }

    private static String body(String line) {
        return line.substring(line.indexOf('{'));
    }

    private static List<String> run() throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            TryOrders.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
