package dev.idempotency.jdbi;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Tells on MariaDB whether a transaction is still the one in which a proof was begun (rule T2): a savepoint is gone once
 * its transaction has ended in any way, by a deadlock, by DDL, by a textual COMMIT or ROLLBACK; the server itself goes on
 * in a new transaction as if nothing had happened. It is the transaction's and leaves nothing behind in the session.
 *
 * <p>To ask is to release it and set it again, which releases the savepoints that were set after it. Claims of one
 * transaction therefore end in the reverse order of their begin, as calls within calls do; otherwise the earlier begun
 * and first completed one makes the other's proof fail, and the transaction rolls back.
 */
final class MariaDbProof {
    /** "SAVEPOINT … does not exist". */
    private static final int NO_SUCH_SAVEPOINT = 1305;

    private static final String NAME = "idempotency_";

    private MariaDbProof() {}

    /** Begins a proof and returns it, a number. */
    static String begin(Connection connection) throws SQLException {
        String proof = Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE));
        execute(connection, "SAVEPOINT " + NAME + proof);
        return proof;
    }

    /** Tells whether the transaction is the one in which it was begun, and keeps it for the next time. */
    static boolean holds(Connection connection, String proof) throws SQLException {
        String savepoint = NAME + number(proof);
        try {
            execute(connection, "RELEASE SAVEPOINT " + savepoint);
        } catch (SQLException e) {
            if (e.getErrorCode() == NO_SUCH_SAVEPOINT) {
                return false;
            }
            throw e;
        }
        execute(connection, "SAVEPOINT " + savepoint);
        return true;
    }

    private static long number(String proof) {
        try {
            return Long.parseLong(proof);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("This was not begun by this store in a transaction", e);
        }
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }
}
