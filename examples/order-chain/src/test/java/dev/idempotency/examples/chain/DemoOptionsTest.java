package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DemoOptionsTest {
    @Test
    void from_nothing_givesDefaults() throws Exception {
        DemoOptions options = DemoOptions.from(Map.of());

        assertThat(options.orders()).isEqualTo(200);
        assertThat(options.clients()).isEqualTo(8);
        assertThat(options.kills()).isEqualTo(6);
        assertThat(options.guarded()).isTrue();
        assertThat(options.report()).isNull();
    }

    @Test
    void from_emptyValues_givesDefaults() throws Exception {
        DemoOptions options = DemoOptions.from(Map.of("demo.orders", "", "demo.guard", "", "demo.report", ""));

        assertThat(options.orders()).isEqualTo(200);
        assertThat(options.guarded()).isTrue();
    }

    @Test
    void from_allGiven_takesThem(@TempDir Path folder) throws Exception {
        Path report = folder.resolve("report.html");

        DemoOptions options = DemoOptions.from(Map.of(
                "demo.orders", "500",
                "demo.clients", "3",
                "demo.kills", "12",
                "demo.seed", "42",
                "demo.guard", "off",
                "demo.report", report.toString(),
                "java.version", "17"));

        assertThat(options).isEqualTo(new DemoOptions(500, 3, 12, 42, false, report.toAbsolutePath()));
    }

    @Test
    void from_notANumber_namesOptionValueAndRange() {
        assertRefused("demo.orders", "many", "demo.orders=many: must be a whole number from 1 to 20000");
    }

    @Test
    void from_outOfRange_namesOptionValueAndRange() {
        assertRefused("demo.orders", "0", "demo.orders=0: must be a whole number from 1 to 20000");
        assertRefused("demo.clients", "65", "demo.clients=65: must be a whole number from 1 to 64");
        assertRefused("demo.kills", "-1", "demo.kills=-1: must be a whole number from 0 to 100");
        assertRefused("demo.seed", "-1", "demo.seed=-1: must be a whole number from 0 to " + Long.MAX_VALUE);
    }

    @Test
    void from_otherGuard_namesOptionValueAndRange() {
        assertRefused("demo.guard", "maybe", "demo.guard=maybe: must be on or off");
    }

    @Test
    void from_reportInNoFolder_namesOptionValueAndRange() {
        assertRefused(
                "demo.report",
                "/no/such/folder/report.html",
                "demo.report=/no/such/folder/report.html: must be a file in a folder that exists and can be written");
    }

    @Test
    void from_unknownOption_namesItAndTheOthers() {
        assertRefused("demo.order", "5", "demo.order: unknown option, the options are " + DemoOptions.NAMED);
    }

    private static void assertRefused(String name, String value, String message) {
        assertThatThrownBy(() -> DemoOptions.from(Map.of(name, value)))
                .isInstanceOf(InvalidOptionException.class)
                .hasMessage(message)
                .hasMessageNotContaining("\n");
    }
}
