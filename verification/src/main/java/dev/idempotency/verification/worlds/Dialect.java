package dev.idempotency.verification.worlds;

/** What a database does to a transaction after an error. */
enum Dialect {
    /** Any error aborts the transaction: its locks are free, statements are refused, COMMIT answers with a rollback. */
    POSTGRESQL,
    /** A conflict rolls the transaction back unseen and the next statement begins another; other errors do nothing. */
    H2
}
