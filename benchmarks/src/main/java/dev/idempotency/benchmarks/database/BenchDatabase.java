package dev.idempotency.benchmarks.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.math.BigDecimal;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** A database with the library's tables and {@link Effects}, behind a pool. Safe for use by many threads. */
public final class BenchDatabase implements AutoCloseable {
    private final PostgreSqlDatabase database;
    private final HikariDataSource pool;
    private final Jdbi jdbi;

    private BenchDatabase(PostgreSqlDatabase database, HikariDataSource pool) {
        this.database = database;
        this.pool = pool;
        this.jdbi = Jdbi.create(pool);
    }

    static BenchDatabase open(PostgreSqlDatabase database, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(connections);
        BenchDatabase opened = new BenchDatabase(database, new HikariDataSource(config));
        SchemaInstaller.of(opened.pool).install();
        Effects.createTable(opened.jdbi);
        return opened;
    }

    /**
     * Returns the pool of connections, which are in autocommit.
     *
     * @return the pool
     */
    public DataSource pool() {
        return pool;
    }

    /**
     * Returns a Jdbi on the pool, for what is not measured.
     *
     * @return the Jdbi
     */
    public Jdbi jdbi() {
        return jdbi;
    }

    /**
     * Returns how many bytes of log the server has written since it was made; the difference of two such numbers is
     * what was written between them, by all databases of the server.
     *
     * @return the number of bytes
     */
    public BigDecimal walBytes() {
        return jdbi.withHandle(
                handle -> handle.createQuery("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
                        .mapTo(BigDecimal.class)
                        .one());
    }

    /**
     * Takes out what is dead and tells the planner what there is, so that runs begin alike.
     *
     * @param table the table's name
     */
    public void vacuum(String table) {
        jdbi.useHandle(handle -> handle.execute("VACUUM (ANALYZE) " + table));
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
