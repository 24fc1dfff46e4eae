package dev.idempotency.spi;

import dev.idempotency.transaction.TransactionContext;

/**
 * A store that can tell where its rows are: the ability by which a wrong combination is found at the start, such as marks in
 * one database and transactions in another, where nothing would be committed together.
 *
 * <p>Safe for use by many threads. Failure: {@link dev.idempotency.StoreUnavailableException}, {@link
 * dev.idempotency.StoreException}. No time source.
 */
public interface LocatedStore {
    /**
     * Tells where this store's rows are, as its own connection sees it now; in a short transaction of its own.
     *
     * @return a text for comparison and for people, without credentials
     */
    String location();

    /**
     * Tells where this store's rows would be in the caller's transaction, which is not changed by it.
     *
     * @param transaction any transaction
     * @return equal to {@link #location()} exactly if it is one of the same database, schema included
     */
    String location(TransactionContext transaction);
}
