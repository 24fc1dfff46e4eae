package dev.idempotency.shutdown;

/**
 * Why a shutdown was asked for; whoever calls {@link GracefulShutdown#shutdown} says it, and logs and the
 * {@link ShutdownReport} repeat it.
 *
 * @param text a short label such as {@code spring context close}; it is logged, so it must not hold secrets
 */
public record Reason(String text) {
    /**
     * Checks the text.
     *
     * @param text not blank
     * @throws IllegalArgumentException if {@code text} is blank
     */
    public Reason {
        if (text.isBlank()) {
            throw new IllegalArgumentException("text is blank, say who asks for the shutdown");
        }
    }
}
