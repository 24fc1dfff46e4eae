package dev.idempotency.testkit.process;

/**
 * Is told each time a process reaches a named step; decorators call it, {@link CrashPoints} or a test implements it.
 *
 * <p>Names are dotted and lower case, the subject first: {@code operation.claimed}. Implementations are safe for use by
 * many threads. A call returns and the step goes on, or does not return, or throws what the step then throws.
 */
@FunctionalInterface
public interface Steps {
    /**
     * Says that this step has been reached.
     *
     * @param step the step's name
     */
    void reached(String step);
}
