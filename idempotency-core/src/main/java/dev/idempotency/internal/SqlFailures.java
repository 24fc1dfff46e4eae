package dev.idempotency.internal;

import dev.idempotency.StoreConflictException;
import dev.idempotency.transaction.CommitFailedException;
import dev.idempotency.transaction.RolledBackException;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tells by SQLState alone what a failure means, wherever in a chain of causes the driver's exception stands. */
public final class SqlFailures {
    private SqlFailures() {}

    /**
     * Tells whether the transaction only lost against a concurrent one, so that running it again may succeed.
     *
     * @param failure what was thrown
     * @return true for serialization failures, deadlocks and locks not given in time
     */
    public static boolean isConflict(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable current = failure; current != null && seen.add(current); current = current.getCause()) {
            if (current instanceof StoreConflictException) {
                return true;
            }
            if (current instanceof SQLException sql && isConflictState(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Tells whether a failure that ended a transaction says that it lost against a concurrent one.
     *
     * @param failure a refused commit or a transaction rolled back on the way
     * @return true if running it again may succeed
     */
    public static boolean isConflictAtEnd(Throwable failure) {
        return (failure instanceof CommitFailedException || failure instanceof RolledBackException)
                && isConflict(failure);
    }

    /** Class 40 without 40003 (completion unknown); 55P03 is PostgreSQL's lock time-out, HYT00 H2's. */
    private static boolean isConflictState(@Nullable String state) {
        if (state == null) {
            return false;
        }
        return (state.startsWith("40") && !state.equals("40003")) || state.equals("55P03") || state.equals("HYT00");
    }
}
