package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.service.Driver;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
    private final Path temporary;
    private final Timeline timeline;
    private final Thread supervisor;
    private final Deque<String> output = new ArrayDeque<>();

    private @Nullable Process process;
    private int port = -1;
    private boolean expectedToEnd;
    private boolean closed;
    private int crashes;
    private @Nullable IOException cannotStart;

    private ServiceProcess(ServiceName name, ServiceSettings settings, Path temporary, Timeline timeline) {
        this.name = name;
        this.settings = settings;
        this.temporary = temporary;
        this.timeline = timeline;
        this.supervisor = new Thread(this::supervise, name.label());
        this.supervisor.setDaemon(true);
    }

    static ServiceProcess start(ServiceName name, ServiceSettings settings, Path temporary, Timeline timeline) {
        ServiceProcess service = new ServiceProcess(name, settings, temporary, timeline);
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
            if (leftMillis <= 0 || cannotStart != null || crashes > PATIENCE_WITH_CRASHES) {
                throw new DemoFailedException(
                        "The " + name.label() + " does not start; its last words:\n  " + String.join("\n  ", output));
            }
            wait(leftMillis);
        }
    }

    /** Sends the signal and returns when the process is gone; the supervisor then starts another. */
    Timeline.Kill kill(Signal signal) throws InterruptedException {
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
        if (!victim.waitFor(STOP_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            // A platform would do the same. The time until then stands in the figures.
            victim.destroyForcibly().waitFor();
        }
        synchronized (this) {
            if (process == victim) {
                port = -1;
            }
        }
        Timeline.Kill kill = new Timeline.Kill(name, signal, at, timeline.now());
        timeline.add(kill);
        return kill;
    }

    private void supervise() {
        while (true) {
            Process started;
            synchronized (this) {
                if (closed || crashes > PATIENCE_WITH_CRASHES) {
                    return;
                }
                try {
                    started = new ProcessBuilder(command())
                            .redirectErrorStream(true)
                            .start();
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
        synchronized (this) {
            if (!expectedToEnd && !closed) {
                crashes++;
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
