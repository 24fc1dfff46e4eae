package dev.idempotency.transaction;

/**
 * A transaction that a {@link TransactionRunner} opened and will end; {@link TransactionRunner} implementations
 * implement it, engines and handlers use it.
 */
public interface Transaction extends TransactionContext {
    /**
     * Writes what frameworks hold back (the pending changes of a JPA session, for instance) to the connection.
     *
     * <p>Engines call it right before their own last statement. It does nothing where nothing is held back.
     *
     * @throws RuntimeException what the framework threw; the transaction must then be rolled back
     */
    void flush();

    /**
     * Registers an action for the time after a successful commit.
     *
     * <p>It runs on the transaction's thread, in order of registration, after the connection has been given back. It
     * does not run after a rollback nor when the commit's outcome is unknown. What it throws is logged and changes
     * nothing: the commit has happened.
     *
     * @param action what to do
     */
    void afterCommit(Runnable action);

    /**
     * Makes the transaction end in a rollback; the work's value is still returned to whoever ran it.
     *
     * <p>Cannot be undone.
     */
    void setRollbackOnly();

    /**
     * Tells whether the transaction can only be rolled back, either by {@link #setRollbackOnly()} or because the
     * connection saw an error after which the server may have rolled back on its own.
     *
     * @return true if nothing done in it will last
     */
    boolean isRollbackOnly();

    /**
     * Returns the bounds of this transaction's waits; stores put them in force within their first statement.
     *
     * @return the limits given to the runner
     */
    TransactionLimits limits();
}
