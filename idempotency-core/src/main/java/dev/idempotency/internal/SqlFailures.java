package dev.idempotency.internal;

import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells by type, SQLState and, where a server has no state of its own for it, vendor code what a failure means; never by
 * text. Wherever in a chain of causes or of next exceptions the driver's exception stands.
 */
public final class SqlFailures {
    /** Chains may be circular. */
    private static final int LONGEST_CHAIN = 1_000;

    /** 55P03 is PostgreSQL's lock time-out, HYT00 H2's. */
    private static final Set<String> LOCK_TIMEOUT = Set.of("55P03", "HYT00");

    /** MariaDB and MySQL say "general error" for a lock not given in time, at its time-out (1205) or at once (3572). */
    private static final Set<Integer> LOCK_TIMEOUT_CODES = Set.of(1205, 3572);

    /** MariaDB: the row has changed since the transaction's snapshot. */
    private static final int SNAPSHOT_LOST_CODE = 1020;

    private static final String GENERAL_ERROR = "HY000";
    private static final String COMPLETION_UNKNOWN = "40003";
    private static final String IN_FAILED_TRANSACTION = "25P02";
    private static final Set<String> ENDED_FOR_ITS_LENGTH = Set.of("25P03", "25P04");

    private SqlFailures() {}

    /**
     * Tells whether the transaction only lost against a concurrent one, so that running it again may succeed.
     *
     * @param failure what was thrown
     * @return true for serialization failures, deadlocks and locks not given in time
     */
    public static boolean isConflict(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof StoreConflictException
                        || (link instanceof SQLException error && isConflictError(error)));
    }

    /**
     * Tells whether no event or request is to blame: the connection is lost, the server goes away or has no room.
     *
     * @param failure what was thrown
     * @return true if waiting may help
     */
    public static boolean isInfrastructure(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof StoreUnavailableException
                        || link instanceof SQLNonTransientConnectionException
                        || link instanceof SQLTransientConnectionException
                        || link instanceof SQLRecoverableException
                        || (link instanceof SQLException error && isInfrastructureState(stateOf(error))));
    }

    /**
     * Tells whether the server refused a statement because an earlier one of its transaction had failed: whatever is
     * done now, that transaction ends in a rollback.
     *
     * @param failure what was thrown
     * @return true if it is certain that the transaction will not be committed
     */
    public static boolean isInFailedTransaction(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof SQLException error && stateOf(error).equals(IN_FAILED_TRANSACTION));
    }

    /**
     * Tells whether the server has ended the transaction because it was idle, or open, for longer than it may be.
     *
     * @param failure what was thrown
     * @return true if the work was too slow for its limits
     */
    public static boolean isEndedForItsLength(Throwable failure) {
        return anyLink(
                failure, link -> link instanceof SQLException error && ENDED_FOR_ITS_LENGTH.contains(stateOf(error)));
    }

    /**
     * As {@link #isConflict}, of one exception of a driver alone.
     *
     * @param error the exception
     * @return true for serialization failures, deadlocks and locks not given in time
     */
    public static boolean isConflictError(SQLException error) {
        String state = stateOf(error);
        if (state.equals(COMPLETION_UNKNOWN)) {
            return false;
        }
        return state.startsWith("40")
                || error instanceof SQLTransactionRollbackException
                || isLockTimeout(error)
                || isSnapshotLost(error);
    }

    /**
     * Tells whether MariaDB has rolled the whole transaction back because a row has changed since its snapshot; the error
     * has no state of its own, and the server goes on in a new transaction.
     *
     * @param error a driver's exception
     * @return true if nothing of the transaction is left
     */
    public static boolean isSnapshotLost(SQLException error) {
        return stateOf(error).equals(GENERAL_ERROR) && error.getErrorCode() == SNAPSHOT_LOST_CODE;
    }

    /**
     * Tells whether a lock was not given in time.
     *
     * @param error a driver's exception
     * @return true if another transaction holds it
     */
    public static boolean isLockTimeout(SQLException error) {
        String state = stateOf(error);
        return LOCK_TIMEOUT.contains(state)
                || (state.equals(GENERAL_ERROR) && LOCK_TIMEOUT_CODES.contains(error.getErrorCode()));
    }

    /**
     * Classes 08 and 53, a statement whose completion is unknown, and of class 57 what ends sessions. Not 57014, a
     * statement that ran too long: of that the event may be the cause, and to retry it for ever would hold its partition
     * up for ever.
     */
    private static boolean isInfrastructureState(String state) {
        return state.startsWith("08")
                || state.startsWith("53")
                || state.startsWith("57P")
                || state.equals(COMPLETION_UNKNOWN);
    }

    /**
     * Returns an exception's state.
     *
     * @param error a driver's exception
     * @return its five characters; empty if the driver gave none
     */
    public static String stateOf(SQLException error) {
        String state = error.getSQLState();
        return state == null ? "" : state;
    }

    private static boolean anyLink(Throwable failure, Predicate<Throwable> test) {
        int links = 0;
        for (Throwable cause = failure; cause != null && links < LONGEST_CHAIN; cause = cause.getCause()) {
            links++;
            if (test.test(cause)) {
                return true;
            }
            if (cause instanceof SQLException error) {
                for (SQLException next = next(error); next != null && links < LONGEST_CHAIN; next = next(next)) {
                    links++;
                    if (test.test(next)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private static @Nullable SQLException next(SQLException error) {
        return error.getNextException();
    }
}
