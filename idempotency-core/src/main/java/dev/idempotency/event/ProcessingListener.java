package dev.idempotency.event;

/**
 * Told how each transaction with events went; users implement it for metrics.
 *
 * <p>It is called on the thread that handles the events, after the transaction has ended, so it must be quick. What it throws
 * is logged and changes nothing. Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface ProcessingListener {
    /**
     * Takes note of a transaction.
     *
     * @param report how it went
     */
    void onTransaction(ProcessingReport report);
}
