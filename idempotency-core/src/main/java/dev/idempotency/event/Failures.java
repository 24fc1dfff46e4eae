package dev.idempotency.event;

import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Tells by type and SQLState, never by text, whether an event is to blame for a failure. */
final class Failures {
    /** Chains may be circular. */
    private static final int LONGEST_CHAIN = 1_000;

    private Failures() {}

    /** The transaction lost against a concurrent one: serialization failure, deadlock, lock not given in time. */
    static boolean isConflict(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof StoreConflictException
                        || link instanceof SQLTransactionRollbackException
                        || (link instanceof SQLException error && isConflictState(error.getSQLState())));
    }

    /** The connection is lost, the server goes away or has no room. */
    static boolean isInfrastructure(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof StoreUnavailableException
                        || link instanceof SQLNonTransientConnectionException
                        || link instanceof SQLTransientConnectionException
                        || link instanceof SQLRecoverableException
                        || (link instanceof SQLException error && isInfrastructureState(error.getSQLState())));
    }

    /** 55P03 is PostgreSQL's lock time-out, HYT00 H2's. */
    private static boolean isConflictState(@Nullable String state) {
        return state != null && (state.startsWith("40") || state.equals("55P03") || state.equals("HYT00"));
    }

    /**
     * Classes 08 and 53, and of class 57 what ends sessions. Not 57014, a statement that ran too long: of that the event
     * may be the cause, and to retry it for ever would hold its partition up for ever.
     */
    private static boolean isInfrastructureState(@Nullable String state) {
        return state != null && (state.startsWith("08") || state.startsWith("53") || state.startsWith("57P"));
    }

    /** The server has ended the transaction because it was idle, or open, for longer than it may be. */
    static boolean isEndedForItsLength(Throwable failure) {
        return anyLink(
                failure,
                link -> link instanceof SQLException error
                        && ("25P03".equals(error.getSQLState()) || "25P04".equals(error.getSQLState())));
    }

    private static boolean anyLink(Throwable failure, Predicate<Throwable> test) {
        int links = 0;
        for (Throwable cause = failure; cause != null && links < LONGEST_CHAIN; cause = cause.getCause()) {
            links++;
            if (test.test(cause)) {
                return true;
            }
            if (cause instanceof SQLException error && error.getNextException() != null) {
                for (SQLException next = error.getNextException();
                        next != null && links < LONGEST_CHAIN;
                        next = next.getNextException()) {
                    links++;
                    if (test.test(next)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
