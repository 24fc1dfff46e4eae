package dev.idempotency.jdbi;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.ProxyConnection;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Takes a connection out of a HikariCP pool. Other pools ask {@code isClosed()} when they get one back; HikariCP hands a
 * recently used connection out again without asking.
 */
final class HikariEviction {
    private HikariEviction() {}

    static void evict(DataSource dataSource, Connection connection) {
        try {
            Hikari.evict(dataSource, connection);
        } catch (NoClassDefFoundError e) {
            // HikariCP is optional: without its classes there is no such pool.
            return;
        } catch (SQLException e) {
            // The data source does not say what it wraps, so it is no HikariCP pool either.
            return;
        }
    }

    /** Loaded, and with it HikariCP's classes, only when called. */
    private static final class Hikari {
        static void evict(DataSource dataSource, Connection connection) throws SQLException {
            if (dataSource.isWrapperFor(HikariDataSource.class)) {
                dataSource.unwrap(HikariDataSource.class).evictConnection(pooled(connection));
            }
        }

        /** The pool knows its own connection only, not what a wrapper of the data source has put around it. */
        private static Connection pooled(Connection connection) {
            try {
                return connection.unwrap(ProxyConnection.class);
            } catch (SQLException e) {
                // It is the pool's own, or does not say what it wraps.
                return connection;
            }
        }
    }
}
