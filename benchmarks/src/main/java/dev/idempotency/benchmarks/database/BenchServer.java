package dev.idempotency.benchmarks.database;

import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;

/** A PostgreSQL server of the suite's own, as durable as in production. Safe for use by many threads. */
public final class BenchServer implements AutoCloseable {
    /** The embedding library would switch fsync off. Checkpoints far apart: one in the middle of a run would hit one form and spare the other. */
    private static final Map<String, String> SETTINGS =
            Map.of("fsync", "on", "shared_buffers", "512MB", "max_wal_size", "8GB", "checkpoint_timeout", "30min");

    private static final List<String> REPORTED = List.of(
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "wal_level",
            "shared_buffers",
            "max_wal_size",
            "checkpoint_timeout");

    private final EmbeddedPostgreSql server;
    private final int connections;

    private BenchServer(EmbeddedPostgreSql server, int connections) {
        this.server = server;
        this.connections = connections;
    }

    /**
     * Starts a server and notes its version and settings.
     *
     * @param harness where to note them
     * @return the running server
     */
    public static BenchServer start(Harness harness) {
        // One for each client, and some for whoever looks on.
        BenchServer started = new BenchServer(
                EmbeddedPostgreSql.start(SETTINGS), harness.settings().clients() + 4);
        try (BenchDatabase database = started.createDatabase()) {
            harness.note("PostgreSQL", started.describe(database.jdbi()));
            return started;
        } catch (RuntimeException e) {
            started.close();
            throw e;
        }
    }

    /**
     * Creates a database with the library's tables.
     *
     * @return the database, to be closed by the caller
     */
    public BenchDatabase createDatabase() {
        return BenchDatabase.open(server.createDatabase(), connections);
    }

    private String describe(Jdbi jdbi) {
        return jdbi.withHandle(handle -> {
            StringBuilder text = new StringBuilder(handle.createQuery("SHOW server_version")
                    .mapTo(String.class)
                    .one());
            for (String name : REPORTED) {
                text.append(", ")
                        .append(name)
                        .append('=')
                        .append(handle.createQuery("SHOW " + name)
                                .mapTo(String.class)
                                .one());
            }
            return text.append(", pool of ")
                    .append(connections)
                    .append(" connections")
                    .toString();
        });
    }

    @Override
    public void close() {
        server.close();
    }
}
