package dev.idempotency.verification.worlds;

import java.sql.SQLException;

/** What the simulated database answers instead of a result; made without a stack trace, because worlds make many. */
final class DatabaseError extends RuntimeException {
    private final Kind kind;

    enum Kind {
        /** A serialization failure or a deadlock. */
        CONFLICT,
        LOCK_TIMEOUT,
        DUPLICATE_KEY,
        /** PostgreSQL refuses all statements of a transaction after its first error. */
        IN_FAILED_TRANSACTION,
        CONNECTION_LOST,
        COMMIT_UNKNOWN
    }

    DatabaseError(Kind kind) {
        super(kind.name(), null, false, false);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }

    /** As the driver would throw it to user code. */
    SQLException asSqlException() {
        String state = switch (kind) {
            case CONFLICT -> "40P01";
            case LOCK_TIMEOUT -> "55P03";
            case DUPLICATE_KEY -> "23505";
            case IN_FAILED_TRANSACTION -> "25P02";
            case CONNECTION_LOST, COMMIT_UNKNOWN -> "08006";
        };
        return new SQLException(kind.name(), state, this);
    }

    /** Tells whether a guarded connection would mark its transaction rollback-only: classes 40 and 08. */
    boolean endsTheTransaction() {
        return kind == Kind.CONFLICT || kind == Kind.CONNECTION_LOST;
    }
}
