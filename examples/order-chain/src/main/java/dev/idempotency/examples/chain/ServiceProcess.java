package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.service.Driver;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One service as a child process that is started again whenever it ends, as a platform does.
 *
 * <p>Safe for use by many threads.
 */
final class ServiceProcess implements AutoCloseable {
    private static final int KEPT_LINES = 60;
    private static final int PATIENCE_WITH_CRASHES = 5;
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(40);

    private final ServiceName name;
    private final ServiceSettings settings;
    private final Setup setup;
    private final Path temporary;
    private final Timeline timeline;
    private final Thread supervisor;
    private final Deque<String> output = new ArrayDeque<>();

    private @Nullable Process process;
    private int port = -1;
    private boolean expectedToEnd;
    private boolean closed;
    private int crashes;
    private int crashesInARow;
    private @Nullable IOException cannotStart;

    private ServiceProcess(ServiceName name, ServiceSettings settings, Setup setup, Path temporary, Timeline timeline) {
        this.name = name;
        this.settings = settings;
        this.setup = setup;
        this.temporary = temporary;
        this.timeline = timeline;
        this.supervisor = new Thread(this::supervise, name.label());
        this.supervisor.setDaemon(true);
    }

    /**
     * How a service is run beyond what all have in common.
     *
     * @param environment what each process finds in its environment
     * @param clock the file that a process with a wrong clock reads, or null
     * @param beforeStart to be done before each start
     * @param cleanUpAfter to be done when the process with this id has ended
     */
    record Setup(
            Map<String, String> environment, @Nullable Path clock, Runnable beforeStart, LongConsumer cleanUpAfter) {
        static final Setup PLAIN = new Setup(Map.of(), null, () -> {}, pid -> {});
    }

    /** A pause that the process is given while it ends: after how long, and for how long. */
    record Standstill(long afterMillis, long millis) {
        static final Standstill NONE = new Standstill(0, 0);
    }

    static ServiceProcess start(
            ServiceName name, ServiceSettings settings, Setup setup, Path temporary, Timeline timeline) {
        ServiceProcess service = new ServiceProcess(name, settings, setup, temporary, timeline);
        service.supervisor.start();
        return service;
    }

    ServiceName name() {
        return name;
    }

    /** Returns where the service takes requests now, or nothing while it is down. */
    synchronized Optional<URI> uri() {
        return port < 0 ? Optional.empty() : Optional.of(URI.create("http://127.0.0.1:" + port));
    }

    /** Returns how often the service ended although nobody had killed it. */
    synchronized int crashes() {
        return crashes;
    }

    /** Returns the last lines that the service wrote. */
    synchronized List<String> output() {
        return new ArrayList<>(output);
    }

    /**
     * Returns when the service is up.
     *
     * @throws DemoFailedException if it does not come up
     */
    synchronized void awaitReady(Duration patience) throws DemoFailedException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (port < 0) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (leftMillis <= 0 || cannotStart != null || crashesInARow > PATIENCE_WITH_CRASHES) {
                throw new DemoFailedException(
                        "The " + name.label() + " does not start; its last words:\n  " + String.join("\n  ", output));
            }
            wait(leftMillis);
        }
    }

    /** Sends the signal and returns when the process is gone; the supervisor then starts another. */
    Timeline.Kill kill(Signal signal) throws InterruptedException {
        return kill(signal, Standstill.NONE);
    }

    /** The same, with a standstill on the way, whose time is not counted as the process's own. */
    Timeline.Kill kill(Signal signal, Standstill standstill) throws InterruptedException {
        Process victim;
        synchronized (this) {
            victim = process;
            if (victim == null) {
                throw new IllegalStateException("The " + name.label() + " was never started");
            }
            expectedToEnd = true;
        }
        long at = timeline.now();
        if (signal == Signal.SIGKILL) {
            victim.destroyForcibly();
        } else {
            victim.destroy();
        }
        long stood = 0;
        if (standstill.millis() > 0 && !victim.waitFor(standstill.afterMillis(), TimeUnit.MILLISECONDS)) {
            stood = stand(victim, standstill.millis());
        }
        if (!victim.waitFor(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            // A platform would do the same. The time until then stands in the figures.
            victim.destroyForcibly().waitFor();
        }
        synchronized (this) {
            if (process == victim) {
                port = -1;
            }
        }
        Timeline.Kill kill = new Timeline.Kill(name, signal, at, timeline.now(), stood, victim.exitValue());
        timeline.add(kill);
        return kill;
    }

    /** Makes the process stand still for a while, and returns for how many milliseconds it certainly did. */
    long standStill(long millis) throws InterruptedException {
        Process victim;
        synchronized (this) {
            victim = process;
        }
        return victim == null ? 0 : stand(victim, millis);
    }

    private long stand(Process victim, long millis) throws InterruptedException {
        if (!signal(victim, "STOP")) {
            return 0;
        }
        long from = timeline.now();
        try {
            Pause.ofMillis(millis);
            return timeline.now() - from;
        } finally {
            signal(victim, "CONT");
        }
    }

    /** Sends a signal that Java has no method for; false if the process has ended meanwhile. */
    private static boolean signal(Process victim, String signal) throws InterruptedException {
        try {
            return new ProcessBuilder("sh", "-c", "kill -" + signal + " " + victim.pid() + " 2> /dev/null")
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send SIG" + signal, e);
        }
    }

    private void supervise() {
        while (true) {
            Process started;
            synchronized (this) {
                if (closed || crashesInARow > PATIENCE_WITH_CRASHES) {
                    return;
                }
                try {
                    setup.beforeStart().run();
                    ProcessBuilder builder = new ProcessBuilder(command()).redirectErrorStream(true);
                    builder.environment().putAll(setup.environment());
                    started = builder.start();
                } catch (IOException e) {
                    cannotStart = e;
                    notifyAll();
                    return;
                }
                process = started;
                expectedToEnd = false;
            }
            follow(started);
        }
    }

    /** Reads what the process writes, until it ends. */
    private void follow(Process started) {
        long readyAt = -1;
        try (BufferedReader lines = started.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (Driver.isReady(line)) {
                    readyAt = timeline.now();
                    becomeReady(Driver.port(line));
                } else {
                    keep(line);
                }
            }
        } catch (IOException e) {
            keep("(" + e + ")");
        }
        awaitEnd(started);
        if (readyAt >= 0) {
            timeline.add(new Timeline.Run(name, readyAt, timeline.now()));
        }
    }

    private synchronized void becomeReady(int servicePort) {
        port = servicePort;
        crashesInARow = 0;
        notifyAll();
    }

    private synchronized void keep(String line) {
        output.addLast(line);
        if (output.size() > KEPT_LINES) {
            output.removeFirst();
        }
    }

    private void awaitEnd(Process started) {
        synchronized (this) {
            port = -1;
        }
        int status = started.onExit().join().exitValue();
        setup.cleanUpAfter().accept(started.pid());
        synchronized (this) {
            if (!expectedToEnd && !closed) {
                crashes++;
                crashesInARow++;
                keep("(ended by itself with status " + status + ")");
            }
            notifyAll();
        }
    }

    private List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Quick to start and small: on a laptop two of them are started again and again beside a database and a broker.
        command.addAll(List.of("-Xmx192m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.add("-Djava.io.tmpdir=" + temporary);
        command.addAll(List.of("-classpath", System.getProperty("java.class.path")));
        command.add(name.mainClass().getName());
        command.addAll(settings.toArguments());
        return command;
    }

    /** Ends the service for good. */
    @Override
    public void close() {
        Process last;
        synchronized (this) {
            closed = true;
            last = process;
            notifyAll();
        }
        if (last != null) {
            last.destroyForcibly().onExit().join();
        }
    }
}
