package dev.idempotency.verification.worlds;

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

    /** Tells whether a guarded connection would mark its transaction rollback-only: classes 40 and 08. */
    boolean endsTheTransaction() {
        return kind == Kind.CONFLICT || kind == Kind.CONNECTION_LOST;
    }
}
