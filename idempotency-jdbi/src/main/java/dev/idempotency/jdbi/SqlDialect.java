package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/**
 * The databases whose SQL this module speaks.
 *
 * <p>What differs between them stands in one class of statements per store and dialect; this enum only chooses that
 * class and the folder of schema files.
 */
enum SqlDialect {
    POSTGRESQL("PostgreSQL"),
    MARIADB("MariaDB"),
    H2("H2");

    private final String productName;

    SqlDialect(String productName) {
        this.productName = productName;
    }

    /**
     * Returns the dialect of the database behind a connection.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    static SqlDialect detect(Connection connection) throws SQLException {
        for (SqlDialect dialect : values()) {
            if (dialect.isThatOf(connection)) {
                return dialect;
            }
        }
        String product = connection.getMetaData().getDatabaseProductName();
        throw new IllegalArgumentException("The database is " + product
                + ", but the stores speak the SQL of PostgreSQL, MariaDB and H2 only: use one of these, or implement the"
                + " SPI. MySQL is none of them: it lacks SET STATEMENT and INSERT ... RETURNING");
    }

    /** Tells whether the database behind a connection speaks this one; no round trip with the drivers known here. */
    boolean isThatOf(Connection connection) throws SQLException {
        return productName.equalsIgnoreCase(connection.getMetaData().getDatabaseProductName());
    }

    /** Makes the store's own transaction, of which nothing has run yet, one in which its statements hold. */
    void begin(Connection connection) throws SQLException {
        if (this == MARIADB) {
            MariaDbSession.readCommitted(connection);
        }
    }

    /** Returns the connection as the statements of this dialect need it. */
    Connection adapt(Connection connection) {
        return this == MARIADB ? MariaDbConnection.over(connection) : connection;
    }

    /** The folder of its schema files, under {@code schema/} beside this class. */
    String folder() {
        return name().toLowerCase(Locale.ROOT);
    }
}
