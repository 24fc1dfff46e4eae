package dev.idempotency.operation;

/**
 * Told what became of each call, once; users implement it for metrics and give it to {@link
 * dev.idempotency.Idempotency.Builder#listener}.
 *
 * <p>It is called on the thread that ran the call, after everything is decided and recorded, so it must be quick. What it
 * throws is logged and changes nothing. Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface OperationListener {
    /**
     * Takes note of a call.
     *
     * @param report what became of it
     */
    void onOutcome(OperationReport report);
}
