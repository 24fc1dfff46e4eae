package dev.idempotency.benchmarks.harness;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What the figures were measured on and with; part of every report. Used by one thread. */
public final class Machine {
    private final Map<String, String> facts = new LinkedHashMap<>();

    private Machine() {}

    /**
     * Returns what can be said before the suite starts.
     *
     * @param settings how it is measured
     * @return the machine
     */
    public static Machine now(Settings settings) {
        Machine machine = new Machine();
        machine.note("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        machine.note(
                "processor",
                Runtime.getRuntime().availableProcessors() + " x "
                        + inFile("/proc/cpuinfo", "model name").orElse(System.getProperty("os.arch")));
        machine.note("memory", inFile("/proc/meminfo", "MemTotal").orElse("unknown"));
        machine.note("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        machine.note(
                "java",
                System.getProperty("java.vendor") + " " + System.getProperty("java.vm.version") + ", heap up to "
                        + (Runtime.getRuntime().maxMemory() >> 20) + " MiB");
        // A machine that is busy with other things gives other figures, and a reader cannot see it otherwise.
        machine.note(
                "load before the start",
                Double.toString(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        machine.note(
                "settings",
                "runs " + settings.runs() + ", length of a timed run "
                        + settings.length().toMillis() + " ms, clients "
                        + settings.clients() + ", rows of a large table " + settings.rows()
                        + (settings.only().isEmpty() ? "" : ", only " + settings.only()));
        if (settings.quick()) {
            machine.note("quick", "a single cold run: it shows that everything works, and is no measurement");
        }
        return machine;
    }

    void note(String name, String value) {
        facts.put(name, value);
    }

    Map<String, String> facts() {
        return new LinkedHashMap<>(facts);
    }

    private static Optional<String> inFile(String file, String name) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst();
        } catch (IOException e) {
            // Another operating system.
            return Optional.empty();
        }
    }
}
