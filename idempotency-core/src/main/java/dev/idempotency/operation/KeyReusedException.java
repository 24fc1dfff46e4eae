package dev.idempotency.operation;

/**
 * The key was used for another call: the fingerprints do not match; the work did not run.
 *
 * <p>Either the caller uses one key for two things, or a repeat does not send what the first attempt sent.
 */
public final class KeyReusedException extends OperationException {
    private static final long serialVersionUID = 1L;

    KeyReusedException() {
        super(
                false,
                "The key was used before with another fingerprint: use a key of its own for every operation, and repeat with"
                        + " the same content",
                null);
    }
}
