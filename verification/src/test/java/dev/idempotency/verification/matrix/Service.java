package dev.idempotency.verification.matrix;

/** One instance of the service under test. */
interface Service extends AutoCloseable {
    /**
     * Does what the key stands for, as a client, a broker or a scheduler asks for it, and answers within a bounded time.
     *
     * @param key the same for every repeat
     * @return what the client is told
     * @throws Exception what the service threw instead of an answer
     */
    Reply call(String key) throws Exception;

    @Override
    default void close() {}
}
