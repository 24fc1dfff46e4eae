package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a person runs it: a process of its own, judged by its output, its status and what it leaves behind. */
final class OrderChainIT {
    private static final Duration PATIENCE = Duration.ofMinutes(8);
    private static final Pattern RESULT =
            Pattern.compile("RESULT guard=(on|off) orders=(\\d+) intents=(\\d+) charges=(\\d+) duplicates=(\\d+)"
                    + " lost=(\\d+) kills=(\\d+) replays=(\\d+) seconds=(\\d+)");
    private static final Pattern SOAK_RESULT =
            Pattern.compile(RESULT.pattern() + "( (sigkill|sigterm|sigstop|backend|statement|broker|clock)=\\d+){7}");

    @TempDir
    private Path folder;

    @Test
    void guardOn_everyOrderOnce() throws Exception {
        Run run = run("-Ddemo.orders=40", "-Ddemo.kills=2", "-Ddemo.report=" + folder.resolve("report.html"));

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.result("guard")).isEqualTo("on");
        assertThat(run.number("orders")).isEqualTo(40);
        assertThat(run.number("intents")).isEqualTo(40);
        assertThat(run.number("charges")).isEqualTo(40);
        assertThat(run.number("duplicates")).isZero();
        assertThat(run.number("lost")).isZero();
        assertThat(run.number("kills")).isEqualTo(2);
        assertThat(folder.resolve("report.html")).content().contains("</html>").doesNotContain("src=", "href=");
        assertThat(temporaryFolder()).isEmptyDirectory();
    }

    @Test
    void guardOff_showsDefectsAndFails() throws Exception {
        Run run = run("-Ddemo.guard=off", "-Ddemo.orders=60", "-Ddemo.kills=2", "-Ddemo.seed=11");

        assertThat(run.status()).as(run.output()).isEqualTo(1);
        assertThat(run.result("guard")).isEqualTo("off");
        assertThat(run.number("duplicates") + run.number("lost")).isPositive();
        assertThat(run.number("kills")).isEqualTo(2);
        assertThat(temporaryFolder()).isEmptyDirectory();
    }

    @Test
    void badValue_isOneLineAndAStatus() throws Exception {
        Run run = run("-Ddemo.orders=none");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.lines()).containsExactly("demo.orders=none: must be a whole number from 1 to 20000");
    }

    @Test
    void soak_badValue_isOneLineAndAStatus() throws Exception {
        Run run = run("soak", "-Dsoak.minutes=none");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.lines()).containsExactly("soak.minutes=none: must be a whole number from 1 to 240");
    }

    @Test
    @EnabledIfSystemProperty(named = "idempotency.profile", matches = "full")
    void soak_faultsOfEveryKind_everyOrderOnce() throws Exception {
        Run run = run("soak", "-Dsoak.minutes=1");

        assertThat(run.status()).as(run.output()).isZero();
        assertThat(run.lines().get(run.lines().size() - 1)).matches(SOAK_RESULT);
        assertThat(temporaryFolder()).isEmptyDirectory();
    }

    @Test
    void interrupted_leavesNoProcessAndNoFolder() throws Exception {
        Process demo = startAndAwaitChildren();
        List<ProcessHandle> others = others(demo);

        demo.destroy();

        assertThat(demo.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertNothingLeft(others);
    }

    @Test
    void killed_leavesNoProcessAndNoFolder() throws Exception {
        Process demo = startAndAwaitChildren();
        List<ProcessHandle> others = others(demo);

        demo.destroyForcibly().waitFor();

        assertNothingLeft(others);
    }

    private record Run(int status, List<String> lines) {
        String output() {
            return String.join("\n", lines);
        }

        int number(String name) {
            return Integer.parseInt(result(name));
        }

        /** Returns a value of the last line, which must have the promised form. */
        String result(String name) {
            Matcher matcher = RESULT.matcher(lines.get(lines.size() - 1));
            assertThat(matcher.matches()).as(output()).isTrue();
            int group = List.of(
                                    "guard",
                                    "orders",
                                    "intents",
                                    "charges",
                                    "duplicates",
                                    "lost",
                                    "kills",
                                    "replays",
                                    "seconds")
                            .indexOf(name)
                    + 1;
            return matcher.group(group);
        }
    }

    private Run run(String... options) throws Exception {
        boolean soak = options[0].equals("soak");
        return run(soak ? "soak" : "demo", List.of(options).subList(soak ? 1 : 0, options.length));
    }

    private Run run(String scenario, List<String> options) throws Exception {
        Path output = folder.resolve("output");
        Process demo = start(scenario, output, options);
        try {
            assertThat(demo.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("ends in time")
                    .isTrue();
        } finally {
            demo.destroyForcibly();
        }
        return new Run(demo.exitValue(), Files.readAllLines(output));
    }

    private Process start(String scenario, Path output, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx512m");
        command.add("-XX:+UseSerialGC");
        command.add("-Djava.io.tmpdir=" + Files.createDirectories(temporaryFolder()));
        command.addAll(options);
        command.addAll(
                List.of("-classpath", System.getProperty("java.class.path"), OrderChain.class.getName(), scenario));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    private Process startAndAwaitChildren() throws IOException {
        // More than will ever be done: it is interrupted in the middle.
        Process demo = start("demo", folder.resolve("output"), List.of("-Ddemo.orders=20000", "-Ddemo.kills=0"));
        await().atMost(PATIENCE)
                .until(() -> services(demo) == 2 && databaseServer().isPresent());
        return demo;
    }

    private static long services(Process demo) {
        return demo.toHandle()
                .children()
                .filter(child -> child.info().command().orElse("").endsWith("java"))
                .count();
    }

    /** All processes of the demo but itself: its descendants, and the database server, which is a daemon. */
    private List<ProcessHandle> others(Process demo) {
        List<ProcessHandle> others = new ArrayList<>(demo.descendants().toList());
        others.add(databaseServer().orElseThrow());
        return others;
    }

    private Optional<ProcessHandle> databaseServer() {
        try (Stream<Path> files = Files.walk(temporaryFolder(), 3)) {
            Optional<Path> pid = files.filter(file -> file.endsWith("database/postmaster.pid"))
                    .findFirst();
            if (pid.isEmpty() || Files.readAllLines(pid.get()).isEmpty()) {
                return Optional.empty();
            }
            return ProcessHandle.of(Long.parseLong(Files.readAllLines(pid.get()).get(0)));
        } catch (IOException | UncheckedIOException e) {
            // The folder changes while it is being walked.
            return Optional.empty();
        }
    }

    private void assertNothingLeft(List<ProcessHandle> others) {
        await().atMost(Duration.ofSeconds(60)).until(() -> others.stream().noneMatch(ProcessHandle::isAlive));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(temporaryFolder()).isDirectoryNotContaining(Files::isDirectory));
    }

    private Path temporaryFolder() {
        return folder.resolve("tmp");
    }
}
