package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreException;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.internal.SqlFailures;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

/** Decides by SQLState, and by vendor code where a server has no state of its own, what a failed statement means. */
final class SqlErrors {
    /**
     * The server ends the session or accepts none (shutdown, crash of another session, start), ended it for idleness or
     * length, cut the statement off at its time-out, or has become read-only in a fail-over.
     */
    private static final Set<String> UNAVAILABLE =
            Set.of("57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "57014", "25006");

    /** No such table: PostgreSQL's two (table, schema), the standard's, and H2's for an empty database or near misses. */
    private static final Set<String> MISSING_TABLE = Set.of("42P01", "3F000", "42S02", "42S03", "42S04", "90079");

    /**
     * MariaDB's, which have no state of their own: the statement was interrupted or took too long, the connection was
     * killed, the server is read-only.
     */
    private static final Set<Integer> UNAVAILABLE_ON_MARIADB = Set.of(1317, 1969, 1927, 1290, 1836);

    /** MariaDB's for a schema that is not there. */
    private static final int UNKNOWN_SCHEMA = 1049;

    static final int MARIADB_DUPLICATE_KEY = 1062;

    private static final String STATEMENT_COMPLETION_UNKNOWN = "40003";

    private SqlErrors() {}

    /**
     * Returns the exception of the store that a failed statement leads to.
     *
     * @param attempted what was attempted, as the beginning of a sentence: "The claim of … "
     */
    static IdempotencyException translate(String attempted, SQLException failure) {
        if (isConflict(failure)) {
            return new StoreConflictException(
                    attempted + " lost against a concurrent transaction (SQLState " + failure.getSQLState()
                            + "): roll back and run it again",
                    failure);
        }
        if (isUnavailable(failure)) {
            return new StoreUnavailableException(
                    attempted + " did not reach the database (SQLState " + failure.getSQLState() + "): repeat it later",
                    failure);
        }
        return new StoreException(
                attempted + " failed with SQLState " + failure.getSQLState()
                        + ", which a repeat will not cure by itself: see the cause",
                failure);
    }

    /** Tells whether another transaction won: serialization failure, deadlock, a lock that was not given in time. */
    static boolean isConflict(SQLException failure) {
        return SqlFailures.isConflictError(failure);
    }

    /** Tells whether the database could not be reached, has gone away or has no room for one more session. */
    static boolean isUnavailable(SQLException failure) {
        String state = stateOf(failure);
        return state.startsWith("08")
                || state.startsWith("53")
                || UNAVAILABLE.contains(state)
                || isCodeOfMariaDb(failure, UNAVAILABLE_ON_MARIADB)
                || failure instanceof SQLNonTransientConnectionException
                || failure instanceof SQLTransientConnectionException
                || failure instanceof SQLRecoverableException;
    }

    /** Tells whether a failure of COMMIT itself says for certain that nothing was committed. */
    static boolean isRefusedCommit(SQLException failure) {
        String state = stateOf(failure);
        return state.startsWith("23") || (state.startsWith("40") && !state.equals(STATEMENT_COMPLETION_UNKNOWN));
    }

    /** Tells whether the statement came too late: an earlier one of its transaction had failed. */
    static boolean isInFailedTransaction(SQLException failure) {
        return SqlFailures.isInFailedTransaction(failure);
    }

    /** Tells whether a statement names a table that is not there; one that may not be read is another matter. */
    static boolean isMissingTable(SQLException failure) {
        return MISSING_TABLE.contains(stateOf(failure)) || isCodeOfMariaDb(failure, Set.of(UNKNOWN_SCHEMA));
    }

    static boolean isLockTimeout(SQLException failure) {
        return SqlFailures.isLockTimeout(failure);
    }

    static boolean isDuplicateKey(SQLException failure) {
        return stateOf(failure).equals("23505")
                || (stateOf(failure).equals("23000") && failure.getErrorCode() == MARIADB_DUPLICATE_KEY);
    }

    /** PostgreSQL's driver has no codes, and H2's are states. */
    private static boolean isCodeOfMariaDb(SQLException failure, Set<Integer> codes) {
        String state = stateOf(failure);
        return (state.equals("HY000") || state.equals("42000") || state.equals("70100"))
                && codes.contains(failure.getErrorCode());
    }

    static String stateOf(SQLException failure) {
        return SqlFailures.stateOf(failure);
    }
}
