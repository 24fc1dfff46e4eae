package dev.idempotency.shutdown;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * The programs that {@code ShutdownSignalIT} starts and signals. Each says READY when it may be signalled; what it does
 * then is seen in its output.
 */
enum ShutdownScenario {
    /** A worker in flight ends during the drain; then two resources are closed. */
    OK {
        @Override
        void play(GracefulShutdown shutdown) {
            CountDownLatch draining = new CountDownLatch(1);
            worker(shutdown, "POST /pay", () -> {
                await(draining);
                say("worker done");
            });
            shutdown.on(Phase.DRAIN, "look", deadline -> draining.countDown());
            closers(shutdown, "pool", "server");
            own(shutdown);
        }
    },

    /** Two pieces of work do not end in time. */
    LONG_TRANSACTION {
        @Override
        void play(GracefulShutdown shutdown) {
            worker(shutdown, "POST /pay", ShutdownScenario::hang);
            worker(shutdown, "event billing", ShutdownScenario::hang);
            closers(shutdown, "pool");
            own(shutdown);
        }
    },

    /** The closer that runs first hangs. */
    CLOSER_HANGS_FIRST {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool", "producer");
            shutdown.on(Phase.CLOSE, "server", deadline -> hang());
            own(shutdown);
        }
    },

    /** The closer that runs last hangs. */
    CLOSER_HANGS_LAST {
        @Override
        void play(GracefulShutdown shutdown) {
            shutdown.on(Phase.CLOSE, "pool", deadline -> hang());
            closers(shutdown, "producer", "server");
            own(shutdown);
        }
    },

    /** A closer throws. */
    CLOSER_THROWS {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            shutdown.on(Phase.CLOSE, "server", deadline -> {
                throw new IOException("server does not stop");
            });
            own(shutdown);
        }
    },

    /** A closer calls System.exit, which blocks because the JVM is already ending. */
    CLOSER_EXITS {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            shutdown.on(Phase.CLOSE, "server", deadline -> System.exit(3));
            own(shutdown);
        }
    },

    /** A second owner, refused while the application starts. */
    TWO_OWNERS {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            own(shutdown);
            try {
                GracefulShutdown.ofDefaults().ownJvmShutdown("second");
                say("BROKEN: two owners");
            } catch (ShutdownOwnershipException refused) {
                say("refused: " + refused.getMessage());
            }
        }
    },

    /** Somebody's own hook closes the pool at once. */
    ROGUE_HOOK {
        @Override
        void play(GracefulShutdown shutdown) {
            AtomicBoolean closed = new AtomicBoolean();
            CountDownLatch rogueHasClosed = new CountDownLatch(1);
            hook(() -> {
                closed.set(true);
                say("rogue closed the pool");
                rogueHasClosed.countDown();
            });
            shutdown.watch("pool", closed::get);
            shutdown.on(Phase.DRAIN, "meanwhile", deadline -> rogueHasClosed.await());
            own(shutdown);
        }
    },

    /** The hook and another hook ask for the shutdown; the other one waits for the result. */
    TWO_CALLERS {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            CountDownLatch bothAsked = new CountDownLatch(1);
            shutdown.on(Phase.DRAIN, "wait for the second caller", deadline -> bothAsked.await());
            hook(() -> {
                intakeClosed(shutdown);
                var completion = shutdown.shutdown(new Reason("second caller")).toCompletableFuture();
                bothAsked.countDown();
                say("second caller returns clean=" + completion.join().clean());
            });
            own(shutdown);
        }
    },

    /** Drains until the test says that all signals have been sent. */
    MANY_SIGNALS {
        @Override
        void play(GracefulShutdown shutdown) {
            worker(shutdown, "work", () -> {
                intakeClosed(shutdown);
                say("DRAINING");
                stdin();
            });
            closers(shutdown, "pool");
            own(shutdown);
        }
    },

    /** The signal comes before the application has taken the ownership. */
    SIGNAL_DURING_START {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            CountDownLatch ending = new CountDownLatch(1);
            CountDownLatch started = new CountDownLatch(1);
            hook(() -> {
                ending.countDown();
                await(started);
            });
            say("READY");
            await(ending);
            try {
                shutdown.ownJvmShutdown("late");
                say("BROKEN: owner of an ending JVM");
            } catch (IllegalStateException refused) {
                say("refused: " + refused.getMessage());
            }
            say("claimed=" + System.getProperty(JvmClaim.PROPERTY));
            started.countDown();
        }
    },

    /** Work is admitted for a while after readiness has gone down. */
    LAME_DUCK {
        @Override
        GracefulShutdown.Builder options() {
            return super.options().lameDuck(Duration.ofMillis(400));
        }

        @Override
        void play(GracefulShutdown shutdown) {
            for (Phase phase : new Phase[] {Phase.ANNOUNCE, Phase.STOP_INTAKE}) {
                shutdown.on(phase, "try", deadline -> {
                    boolean admitted = shutdown.inFlight()
                            .tryEnter("request")
                            .map(permit -> {
                                permit.close();
                                return true;
                            })
                            .orElse(false);
                    say(phase + " ready=" + shutdown.ready() + " admitted=" + admitted);
                });
            }
            own(shutdown);
        }
    },

    /** A worker writes to a file all the time, past every cut-off; an interrupt would close the channel. */
    FILE_CHANNEL {
        @Override
        void play(GracefulShutdown shutdown) throws IOException {
            Path file = Files.createTempFile("shutdown", ".dat");
            file.toFile().deleteOnExit();
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            CompletableFuture<Thread> workerThread = new CompletableFuture<>();
            worker(shutdown, "write", () -> {
                workerThread.complete(Thread.currentThread());
                writeForever(channel);
            });
            shutdown.on(
                    Phase.CLOSE,
                    "look",
                    deadline -> say("open=" + channel.isOpen() + " interrupted="
                            + workerThread.join().isInterrupted()));
            own(shutdown);
        }
    },

    /** A permit whose thread has ended without closing it. */
    LEAKED_PERMIT {
        @Override
        void play(GracefulShutdown shutdown) throws InterruptedException {
            Thread leaking = Threads.daemon(
                    "leaky-7",
                    () -> say("entered "
                            + shutdown.inFlight().tryEnter("POST /leak").isPresent()));
            leaking.start();
            leaking.join();
            closers(shutdown, "pool");
            own(shutdown);
        }
    },

    /** A worker writes to an H2 database in a file, past every cut-off; an interrupt would close the database. */
    H2_WORKER {
        @Override
        void play(GracefulShutdown shutdown) throws Exception {
            Path folder = Files.createTempDirectory("shutdown-h2");
            String url = "jdbc:h2:file:" + folder.resolve("db") + ";DB_CLOSE_ON_EXIT=FALSE;TRACE_LEVEL_FILE=0";
            Connection keeper = DriverManager.getConnection(url);
            execute(keeper, "CREATE TABLE counter (n BIGINT)");
            execute(keeper, "INSERT INTO counter VALUES (0)");
            Connection writer = DriverManager.getConnection(url);
            AtomicBoolean closing = new AtomicBoolean();
            worker(shutdown, "count", () -> {
                while (!closing.get()) {
                    count(writer, closing);
                }
            });
            shutdown.on(Phase.CLOSE, "database", deadline -> {
                execute(keeper, "UPDATE counter SET n = n + 1");
                closing.set(true);
                say("the database is open");
                execute(keeper, "SHUTDOWN IMMEDIATELY");
                try (Stream<Path> files = Files.walk(folder)) {
                    files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
                }
            });
            own(shutdown);
        }
    },

    /** A component that is made during the shutdown wants to register. */
    LATE_REGISTRATION {
        @Override
        void play(GracefulShutdown shutdown) {
            shutdown.on(Phase.ANNOUNCE, "late component", deadline -> {
                try {
                    shutdown.on(Phase.CLOSE, "late", ignored -> say("BROKEN: late task ran"));
                } catch (IllegalStateException refused) {
                    say("refused: " + refused.getMessage());
                }
            });
            own(shutdown);
        }
    },

    /** The ownership is given up while its hook is running. */
    OWNERSHIP_CLOSED_IN_HOOK {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            CompletableFuture<Ownership> ownership = new CompletableFuture<>();
            shutdown.on(Phase.ANNOUNCE, "give up", deadline -> {
                ownership.join().close();
                say("given up, claimed=" + System.getProperty(JvmClaim.PROPERTY));
            });
            ownership.complete(shutdown.ownJvmShutdown("main"));
            say("READY");
        }
    },

    /** The log blocks for ever, so the run cannot end. */
    LOG_BLOCKS {
        @Override
        GracefulShutdown.Builder options() {
            return super.options().forcedExitStatus(77);
        }

        @Override
        void play(GracefulShutdown shutdown) {
            System.setErr(new PrintStream(new BlockingStream(), true, StandardCharsets.UTF_8));
            own(shutdown);
        }
    },

    /** Somebody else's hook never ends. */
    OTHER_HOOK_HANGS {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            hook(ShutdownScenario::hang);
            own(shutdown);
        }
    },

    /** Nobody owns the JVM's end. */
    NO_OWNER {
        @Override
        void play(GracefulShutdown shutdown) {
            closers(shutdown, "pool");
            say("READY");
        }
    },

    /** The shutdown is asked for by the program, whose last thread then ends. */
    PROGRAM_ASKS {
        @Override
        void play(GracefulShutdown shutdown) {
            CountDownLatch callerHasEnded = new CountDownLatch(1);
            Thread main = Thread.currentThread();
            shutdown.on(Phase.DRAIN, "outlive the caller", deadline -> {
                callerHasEnded.await();
                main.join();
            });
            closers(shutdown, "pool");
            shutdown.shutdown(new Reason("admin"));
            callerHasEnded.countDown();
        }

        @Override
        boolean staysAlive() {
            return false;
        }
    };

    static final Duration GRACE = Duration.ofSeconds(3);

    abstract void play(GracefulShutdown shutdown) throws Exception;

    GracefulShutdown.Builder options() {
        return GracefulShutdown.builder().grace(GRACE).closeReserve(Duration.ofMillis(1_500));
    }

    boolean staysAlive() {
        return true;
    }

    public static void main(String[] arguments) throws Exception {
        ShutdownScenario scenario = valueOf(arguments[0]);
        scenario.play(scenario.options().build());
        if (scenario.staysAlive()) {
            new Thread(ShutdownScenario::hang, "application").start();
        }
        if (scenario != MANY_SIGNALS) {
            endWithTheTest();
        }
    }

    static void own(GracefulShutdown shutdown) {
        shutdown.ownJvmShutdown("main");
        say("READY");
    }

    static void closers(GracefulShutdown shutdown, String... names) {
        for (String name : names) {
            shutdown.on(Phase.CLOSE, name, deadline -> say("closed " + name));
        }
    }

    static void worker(GracefulShutdown shutdown, String label, Runnable work) {
        Permit permit = shutdown.inFlight().tryEnter(label).orElseThrow();
        Threads.daemon("worker", () -> {
                    try (permit) {
                        work.run();
                    }
                })
                .start();
    }

    static void intakeClosed(GracefulShutdown shutdown) {
        try {
            shutdown.awaitIntakeClosed(Duration.ofMinutes(1));
        } catch (InterruptedException e) {
            say("BROKEN: interrupted");
        }
    }

    static void hook(Runnable body) {
        Runtime.getRuntime().addShutdownHook(new Thread(body, "somebody's hook"));
    }

    static void hang() {
        await(new CountDownLatch(1));
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            say("BROKEN: interrupted");
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static void count(Connection connection, AtomicBoolean closing) {
        try {
            execute(connection, "UPDATE counter SET n = n + 1");
        } catch (SQLException e) {
            if (!closing.getAndSet(true)) {
                say("BROKEN: " + e);
            }
        }
    }

    static void writeForever(FileChannel channel) {
        try {
            while (true) {
                channel.write(ByteBuffer.allocate(4_096), 0);
            }
        } catch (IOException e) {
            say("BROKEN: " + e);
            throw new UncheckedIOException(e);
        }
    }

    static void stdin() {
        try {
            say("read " + System.in.read());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void endWithTheTest() {
        Threads.daemon("end with the test", () -> {
                    try {
                        while (System.in.read() >= 0) {
                            // Only the end of the input counts.
                        }
                    } catch (IOException e) {
                        say("BROKEN: " + e);
                    }
                    Runtime.getRuntime().halt(99);
                })
                .start();
    }

    static void say(String text) {
        System.out.println(text);
    }

    /** Blocks whoever writes, as a full pipe does. */
    private static final class BlockingStream extends OutputStream {
        @Override
        public void write(int ignored) {
            hang();
        }
    }
}
