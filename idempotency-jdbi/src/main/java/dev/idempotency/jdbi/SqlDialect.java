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
        String product = connection.getMetaData().getDatabaseProductName();
        for (SqlDialect dialect : values()) {
            if (dialect.productName.equalsIgnoreCase(product)) {
                return dialect;
            }
        }
        throw new IllegalArgumentException("The database is " + product
                + ", but the stores speak the SQL of PostgreSQL and H2 only: use one of these, or implement the SPI");
    }

    /** The folder of its schema files, under {@code schema/} beside this class. */
    String folder() {
        return name().toLowerCase(Locale.ROOT);
    }
}
