package dev.idempotency.examples.billing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The example does what its README shows. */
final class TryBillingIT {
    @Test
    void main_chargesEachEventOnce() throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            TryBilling.main(new String[0]);
        } finally {
            System.setOut(console);
        }

        assertThat(output.toString(StandardCharsets.UTF_8))
                .contains("sent:     3 events in 5 messages", "invoices: 3", "charges:  3, in 6 requests");
    }
}
