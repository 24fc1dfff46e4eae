package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;

/** Refuses the mode of PostgreSQL's driver in which a failed statement no longer fails its transaction (rule T2). */
final class Autosave {
    private Autosave() {}

    /**
     * Does nothing with other drivers.
     *
     * @throws IllegalStateException if the connection is in the mode {@code autosave=always}
     */
    static void refuseAlways(Connection connection) throws SQLException {
        boolean always;
        try {
            always = Driver.savesAlways(connection);
        } catch (NoClassDefFoundError e) {
            // The driver is optional: without its classes this is no connection of it.
            return;
        }
        if (always) {
            throw new IllegalStateException("The connection has autosave=always, with which a statement that failed and"
                    + " was swallowed goes unnoticed and an incomplete effect is committed: set autosave=never (the"
                    + " driver's default) or autosave=conservative in the connection's URL or properties");
        }
    }

    /** Loaded, and with it the driver's classes, only when called. */
    private static final class Driver {
        static boolean savesAlways(Connection connection) throws SQLException {
            return connection.isWrapperFor(PGConnection.class)
                    && connection.unwrap(PGConnection.class).getAutosave() == AutoSave.ALWAYS;
        }
    }
}
