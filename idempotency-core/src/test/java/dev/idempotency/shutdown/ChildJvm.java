package dev.idempotency.shutdown;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM of its own with the test's class path, for what can only be seen from outside: signals and the way a process
 * ends. Its standard input is closed when the test ends or dies, and a child ends with it.
 */
final class ChildJvm implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Process process;
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;
    private long signalledNanos;

    /** Starts a main class; the options come before the class, the arguments after it. */
    static ChildJvm start(List<String> options, Class<?> main, String... arguments) throws IOException {
        // A build in the background of a shell ignores SIGINT, and so would every child that inherits that.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.add(Path.of(System.getProperty("java.home", ""), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path", ""), main.getName()));
        command.addAll(List.of(arguments));
        return new ChildJvm(
                new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    private ChildJvm(Process process) {
        this.process = process;
        this.reader = Threads.daemon("output of child " + process.pid(), this::read);
        reader.start();
    }

    /** Sends SIGTERM, by the handle because {@link Process#destroy} closes the child's streams too. */
    void terminate() {
        markSignal();
        process.toHandle().destroy();
    }

    /** Sends a signal by its name without SIG. */
    void signal(String name) throws Exception {
        markSignal();
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .inheritIO()
                .start();
        if (kill.waitFor() != 0) {
            throw new AssertionError("kill -" + name + " failed");
        }
    }

    /** Closes the child's standard input. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** Whether the child is still there after the given time; also the way to let time pass for it. */
    boolean isAliveAfter(Duration duration) throws InterruptedException {
        return !process.waitFor(duration.toNanos(), NANOSECONDS);
    }

    /** Waits for a line that contains the text. */
    synchronized void awaitLine(String text) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (lines.stream().noneMatch(line -> line.contains(text))) {
            long left = until - System.nanoTime();
            if (left <= 0 || !reader.isAlive()) {
                throw new AssertionError("no line contains '" + text + "' in:\n" + String.join("\n", lines));
            }
            wait(NANOSECONDS.toMillis(left) + 1);
        }
    }

    /** Waits for the end and returns the exit status. */
    int awaitExit() throws InterruptedException {
        if (!process.waitFor(PATIENCE.toNanos(), NANOSECONDS)) {
            throw new AssertionError("the child does not end; output:\n" + String.join("\n", output()));
        }
        reader.join(SECONDS.toMillis(10));
        return process.exitValue();
    }

    /** How long ago the first signal was sent. */
    Duration sinceSignal() {
        return Duration.ofNanos(System.nanoTime() - signalledNanos);
    }

    synchronized List<String> output() {
        return List.copyOf(lines);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
        process.getOutputStream().close();
    }

    private void markSignal() {
        if (signalledNanos == 0) {
            signalledNanos = System.nanoTime();
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                keep(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            wakeUp();
        }
    }

    private synchronized void keep(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void wakeUp() {
        notifyAll();
    }
}
