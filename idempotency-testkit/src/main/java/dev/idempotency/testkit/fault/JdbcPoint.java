package dev.idempotency.testkit.fault;

/** A moment in the life of a connection at which {@link FaultInjectingDataSource} can act. */
public enum JdbcPoint {
    /** A connection has been asked for and not yet been taken. */
    BEFORE_CONNECT,
    /** A statement is about to go to the server. */
    BEFORE_EXECUTE,
    /** The server has answered a statement and the caller does not know it. */
    AFTER_EXECUTE,
    /** A commit is about to go to the server. */
    BEFORE_COMMIT,
    /** The server has committed and the caller does not know it. */
    AFTER_COMMIT,
    /** A rollback is about to go to the server. */
    BEFORE_ROLLBACK,
    /** The server has rolled back and the caller does not know it. */
    AFTER_ROLLBACK
}
