package dev.idempotency.testkit.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A child virtual machine that a test starts, talks to, signals and kills, and that never outlives the test.
 *
 * <p>{@link #close()} kills it; it halts itself when the parent dies, in whatever way, because the pipe to its standard
 * input ends. It runs with the parent's virtual machine and class path. Standard output and standard error arrive as
 * one sequence of lines. Instances are safe for use by many threads. Signals need a POSIX system with {@code sh}.
 */
public final class ChildJvm implements AutoCloseable {
    private static final int LINES_SHOWN_ON_FAILURE = 60;
    private static final Duration LONGEST_DEATH = Duration.ofSeconds(30);

    private final String name;
    private final Process process;
    /** Signals go by the handle: {@link Process#destroy()} would also close the pipes, and so cut the child's log. */
    private final ProcessHandle handle;

    private final Thread reader;
    private final Thread killer;

    private final Object monitor = new Object();
    private final List<String> lines = new ArrayList<>();
    private int cursor;
    private boolean outputEnded;

    private ChildJvm(String name, Process process) {
        this.name = name;
        this.process = process;
        this.handle = process.toHandle();
        this.reader = new Thread(this::readOutput, "output-of-" + name);
        this.killer = new Thread(handle::destroyForcibly, "kill-" + name);
    }

    /**
     * Starts describing a child.
     *
     * @param mainClass the class with the {@code main(String[])} to run; it need not be public
     * @return a builder
     */
    public static Builder of(Class<?> mainClass) {
        return new Builder(mainClass.getName());
    }

    /**
     * Waits for the next line of output that matches, searching from behind the line this method returned last.
     *
     * @param matching what to look for
     * @param deadline how long to wait at most
     * @return the line
     * @throws AssertionError if no such line comes in time or before the output ends; it shows the last lines
     */
    public String awaitLine(Predicate<String> matching, Duration deadline) {
        long end = System.nanoTime() + deadline.toNanos();
        synchronized (monitor) {
            try {
                Optional<String> found = nextLine(matching);
                long leftMillis = deadline.toMillis();
                while (found.isEmpty() && !outputEnded && leftMillis > 0) {
                    monitor.wait(leftMillis);
                    found = nextLine(matching);
                    leftMillis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                }
                return found.orElseThrow(
                        () -> new AssertionError((outputEnded ? "The output ended" : "No such line within " + deadline)
                                + " while waiting for a line of " + this + "; its last lines:\n" + lastLines()));
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for " + this, interrupt);
            }
        }
    }

    private Optional<String> nextLine(Predicate<String> matching) {
        while (cursor < lines.size()) {
            String line = lines.get(cursor++);
            if (matching.test(line)) {
                return Optional.of(line);
            }
        }
        return Optional.empty();
    }

    /**
     * Waits for the next line of output that begins with this text, as {@link #awaitLine(Predicate, Duration)} does.
     *
     * @param prefix the line's beginning
     * @param deadline how long to wait at most
     * @return the line's remainder behind the prefix
     * @throws AssertionError if no such line comes in time or before the output ends
     */
    public String awaitLineWith(String prefix, Duration deadline) {
        return awaitLine(line -> line.startsWith(prefix), deadline).substring(prefix.length());
    }

    /**
     * Waits until a thread of the child stands at a {@link CrashPoint.Action#HOLD} point.
     *
     * @param deadline how long to wait at most
     * @throws AssertionError if it does not get there in time
     */
    public void awaitHeld(Duration deadline) {
        awaitLine(line -> line.startsWith(CrashPoints.HELD), deadline);
    }

    /** Lets one thread that is held at a crash point go on; the next one that is held if none is held now. */
    public void release() {
        writeLine(ParentLink.RELEASE);
    }

    /**
     * Writes a line to the child's standard input.
     *
     * @param line the line without its end; ISO 8859-1
     * @throws UncheckedIOException if the child is gone
     */
    public void writeLine(String line) {
        try {
            synchronized (process) {
                process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
                process.getOutputStream().flush();
            }
        } catch (IOException brokenPipe) {
            throw new UncheckedIOException("Cannot write to " + this, brokenPipe);
        }
    }

    /**
     * Returns the output so far.
     *
     * @return a copy of the lines
     */
    public List<String> lines() {
        synchronized (monitor) {
            return List.copyOf(lines);
        }
    }

    /** Sends SIGTERM, the wish to end in good order; does not wait. */
    public void terminate() {
        handle.destroy();
    }

    /** Sends SIGKILL and waits until the process is gone. */
    public void kill() {
        handle.destroyForcibly();
        awaitDeath(LONGEST_DEATH);
    }

    /** Sends SIGSTOP: every thread of the child stands still until {@link #resume()}. */
    public void stop() {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    /**
     * Tells whether the process is alive; a stopped one is.
     *
     * @return true until it has ended
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Returns the operating system's id of the process.
     *
     * @return the id
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Waits for the process to end by itself, and for the rest of its output.
     *
     * @param deadline how long to wait at most
     * @return the exit status; 128 plus the signal's number if a signal ended it
     * @throws AssertionError if it does not end in time; it then still runs
     */
    public int awaitExit(Duration deadline) {
        if (!awaitDeath(deadline)) {
            throw new AssertionError(this + " did not end within " + deadline + "; its last lines:\n" + lastLines());
        }
        return process.exitValue();
    }

    /**
     * Waits for the process to halt at its crash point.
     *
     * @param deadline how long to wait at most
     * @throws AssertionError if it does not end in time, or ends in another way
     */
    public void awaitCrash(Duration deadline) {
        int status = awaitExit(deadline);
        if (status != CrashPoints.HALT_STATUS) {
            throw new AssertionError(this + " should have halted at a crash point (status " + CrashPoints.HALT_STATUS
                    + ") but ended with " + status + "; its last lines:\n" + lastLines());
        }
    }

    /** Kills the process if it still runs and waits until it is gone; does nothing the second time. */
    @Override
    public void close() {
        handle.destroyForcibly();
        awaitDeath(LONGEST_DEATH);
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
        } catch (IllegalStateException alreadyShuttingDown) {
            // Then the hook runs, and finds nothing to kill.
        }
    }

    @Override
    public String toString() {
        return name + "[pid=" + process.pid() + "]";
    }

    private void start() {
        Runtime.getRuntime().addShutdownHook(killer);
        reader.setDaemon(true);
        reader.start();
    }

    private void readOutput() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                synchronized (monitor) {
                    lines.add(line);
                    monitor.notifyAll();
                }
            }
        } catch (IOException streamClosed) {
            // The process is gone; what it wrote has been read.
        } finally {
            synchronized (monitor) {
                outputEnded = true;
                monitor.notifyAll();
            }
        }
    }

    private boolean awaitDeath(Duration deadline) {
        try {
            if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
            reader.join(LONGEST_DEATH.toMillis());
            return true;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the end of " + this, interrupt);
        }
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
                    .inheritIO()
                    .start();
            int status = kill.waitFor();
            if (status != 0) {
                throw new IllegalStateException("kill -" + signal + " of " + this + " ended with " + status);
            }
        } catch (IOException noShell) {
            throw new UncheckedIOException("Cannot signal " + this, noShell);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while signalling " + this, interrupt);
        }
    }

    private String lastLines() {
        synchronized (monitor) {
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES_SHOWN_ON_FAILURE), lines.size()));
        }
    }

    /** Describes a child before it is started; not safe for use by many threads. */
    public static final class Builder {
        private final String mainClass;
        private final List<String> arguments = new ArrayList<>();
        private final List<String> jvmArguments =
                new ArrayList<>(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        private final List<CrashPoint> crashPoints = new ArrayList<>();
        private String classPath = System.getProperty("java.class.path");

        private Builder(String mainClass) {
            this.mainClass = mainClass;
        }

        /**
         * Adds arguments for the main method.
         *
         * @param values the arguments
         * @return this
         */
        public Builder arguments(Object... values) {
            Stream.of(values).map(Object::toString).forEach(arguments::add);
            return this;
        }

        /**
         * Adds arguments for the virtual machine, behind the defaults (128 MB, serial collector, first compiler only).
         *
         * @param values the arguments, for instance {@code -Xmx512m}
         * @return this
         */
        public Builder jvmArguments(String... values) {
            jvmArguments.addAll(List.of(values));
            return this;
        }

        /**
         * Sets a system property of the child.
         *
         * @param property its name
         * @param value its value
         * @return this
         */
        public Builder systemProperty(String property, Object value) {
            jvmArguments.add("-D" + property + "=" + value);
            return this;
        }

        /**
         * Sets the class path of the child.
         *
         * @param entries folders and jars; by default those of this virtual machine
         * @return this
         */
        public Builder classPath(String entries) {
            this.classPath = Objects.requireNonNull(entries, "entries");
            return this;
        }

        /**
         * Adds a point at which the child halts or is held.
         *
         * @param point the point
         * @return this
         */
        public Builder crashAt(CrashPoint point) {
            crashPoints.add(Objects.requireNonNull(point, "point"));
            return this;
        }

        /**
         * Starts the process.
         *
         * @return the running child, to be closed
         * @throws UncheckedIOException if it cannot be started
         */
        public ChildJvm start() {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvmArguments);
            if (!crashPoints.isEmpty()) {
                command.add("-D" + CrashPoints.PROPERTY + "="
                        + crashPoints.stream().map(CrashPoint::format).collect(Collectors.joining(",")));
            }
            command.add(ChildMain.class.getName());
            command.add(mainClass);
            command.addAll(arguments);
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            Map<String, String> environment = builder.environment();
            // By environment, because a class path can be longer than an argument may be.
            environment.put("CLASSPATH", classPath);
            environment.remove("JAVA_TOOL_OPTIONS");
            try {
                ChildJvm child = new ChildJvm(mainClass.substring(mainClass.lastIndexOf('.') + 1), builder.start());
                child.start();
                return child;
            } catch (IOException notStarted) {
                throw new UncheckedIOException("Cannot start " + mainClass, notStarted);
            }
        }
    }
}
