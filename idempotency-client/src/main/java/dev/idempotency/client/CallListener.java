package dev.idempotency.client;

/**
 * Told what became of each call, once; users implement it for metrics and give it to {@link
 * IdempotentHttpClientBuilder#listener}.
 *
 * <p>It is called on the thread that ends the call, often one of the {@link java.net.http.HttpClient}, so it must be quick. What
 * it throws is logged and changes nothing. Implementations are safe for use by many threads.
 */
@FunctionalInterface
public interface CallListener {
    /**
     * Takes note of a call.
     *
     * @param report what became of it
     */
    void onCall(CallReport report);
}
