package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rule 10: nothing here exits, takes signals or stops the logging system. Read from the constant pools. */
class ForbiddenCallsTest {
    @Test
    void rule10_noClassCallsExitOrTakesSignalsOrStopsALog() throws Exception {
        List<Path> classes = classesBeside(GracefulShutdown.class);

        assertThat(classes).hasSizeGreaterThan(20);
        assertThat(classes)
                .allSatisfy(file -> assertThat(constantsOf(file))
                        .doesNotContain(constant("exit"))
                        .doesNotContain("sun/misc/Signal")
                        .doesNotContain("LogManager", "LoggerContext"));
    }

    @Test
    void rule10_theSearchFindsWhatItLooksFor() throws Exception {
        assertThat(classesBeside(Exits.class))
                .anySatisfy(file -> assertThat(constantsOf(file)).contains(constant("exit")));
    }

    /** What the search must find; never run. */
    private static final class Exits implements Runnable {
        @Override
        public void run() {
            Runtime.getRuntime().exit(1);
        }
    }

    /** A CONSTANT_Utf8_info entry: tag 1, two bytes of length, the bytes. */
    private static String constant(String text) {
        return "\u0001\u0000" + (char) text.length() + text;
    }

    private static String constantsOf(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> classesBeside(Class<?> type) throws Exception {
        String simpleName = type.getName().substring(type.getPackageName().length() + 1);
        URI uri =
                Objects.requireNonNull(type.getResource(simpleName + ".class")).toURI();
        try (Stream<Path> files = Files.list(Objects.requireNonNull(Path.of(uri).getParent()))) {
            return files.filter(file -> file.toString().endsWith(".class")).toList();
        }
    }
}
