package dev.idempotency.transaction;

/**
 * A running transaction as far as every caller may use it: a way to the resource in which to write.
 *
 * <p>Stores take it where they join a transaction and never end it. It is bound to the thread that runs the transaction
 * and must not leave it.
 */
public interface TransactionContext {
    /**
     * Returns the transaction's resource of the given type.
     *
     * <p>Every implementation knows {@link java.sql.Connection}: the connection is guarded, it cannot commit, roll back
     * or be closed.
     *
     * @param <T> the resource's type
     * @param type the resource's class, for instance {@code Connection.class} or Jdbi's {@code Handle.class}
     * @return the resource; what is written through it is committed or rolled back with the transaction
     * @throws IllegalArgumentException if this transaction has no resource of the type; the message names those it has
     * @throws IllegalStateException if the transaction has ended
     */
    <T> T unwrap(Class<T> type);
}
