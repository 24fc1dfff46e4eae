package dev.idempotency.examples.chain;

import dev.idempotency.jdbi.SchemaInstaller;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;

/** A PostgreSQL of the demo's own, with the tables of the services. */
final class Database implements AutoCloseable {
    private final EmbeddedPostgres server;
    private final Jdbi jdbi;

    /** A row of purchase_order. */
    record OrderRow(UUID orderId, String intent) {}

    private Database(EmbeddedPostgres server) {
        this.server = server;
        this.jdbi = Jdbi.create(server.getPostgresDatabase());
    }

    static Database start(WorkFolder folder) throws IOException {
        // The starter makes a folder here, whatever other folder it is told to use.
        System.setProperty("java.io.tmpdir", folder.temporary().toString());
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setDataDirectory(folder.database())
                .setOverrideWorkingDirectory(folder.databaseBinaries().toFile())
                // The starter's default is off, and then a commit that was reported may be gone after a crash.
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "60")
                .setOutputRedirector(ProcessBuilder.Redirect.DISCARD)
                .setErrorRedirector(ProcessBuilder.Redirect.DISCARD)
                // The driver is the only owner of its end.
                .setRegisterShutdownHook(false)
                .start();
        Database database = new Database(server);
        database.createTables();
        return database;
    }

    String jdbcUrl() {
        return server.getJdbcUrl("postgres", "postgres");
    }

    List<OrderRow> orders() {
        return jdbi.withHandle(handle -> handle.createQuery("SELECT order_id, intent FROM purchase_order")
                .map((row, context) -> new OrderRow(row.getObject("order_id", UUID.class), row.getString("intent")))
                .list());
    }

    /** Returns the order of each invoice: as often as there are invoices for it. */
    List<UUID> invoicedOrders() {
        return jdbi.withHandle(handle -> handle.createQuery("SELECT order_id FROM invoice")
                .mapTo(UUID.class)
                .list());
    }

    /** Cuts up to this many connections of the services at the server, and returns how many there were. */
    int cutConnections(int most) {
        return jdbi.withHandle(handle -> handle.createQuery("""
                        SELECT pg_terminate_backend(pid)
                        FROM (SELECT pid FROM pg_stat_activity
                              WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
                              ORDER BY random()
                              LIMIT :most) AS victim
                        """)
                .bind("most", most)
                .mapTo(Boolean.class)
                .list()
                .size());
    }

    /**
     * Cuts off statements of the services for a while: those that set no time-out of their own by the server's, the
     * others by hand, with the same SQLState.
     */
    void cutStatements(long millis) {
        jdbi.useHandle(handle -> {
            handle.execute("SET statement_timeout = 0");
            handle.execute("ALTER SYSTEM SET statement_timeout = '2ms'");
            try {
                handle.execute("SELECT pg_reload_conf()");
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
                while (System.nanoTime() < end) {
                    handle.execute("""
                            SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                            WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()
                            """);
                    Pause.ofMillis(20);
                }
            } finally {
                handle.execute("ALTER SYSTEM RESET statement_timeout");
                handle.execute("SELECT pg_reload_conf()");
            }
        });
    }

    private void createTables() {
        jdbi.useHandle(
                handle -> handle.createScript(resource("/order-chain.sql")).execute());
        SchemaInstaller.of(server.getPostgresDatabase()).install();
    }

    private static String resource(String name) {
        try (InputStream input = Database.class.getResourceAsStream(name)) {
            if (input == null) {
                throw new IllegalStateException("The resource " + name + " is not on the class path");
            }
            return new String(input.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
