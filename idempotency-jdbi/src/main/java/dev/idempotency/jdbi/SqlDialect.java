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
                + ", but the stores speak the SQL of PostgreSQL and H2 only: use one of these, or implement the SPI");
    }

    /** Tells whether the database behind a connection speaks this one; no round trip with the drivers known here. */
    boolean isThatOf(Connection connection) throws SQLException {
        return productName.equalsIgnoreCase(connection.getMetaData().getDatabaseProductName());
    }

    /** The folder of its schema files, under {@code schema/} beside this class. */
    String folder() {
        return name().toLowerCase(Locale.ROOT);
    }
}
