package dev.idempotency.operation;

/**
 * An earlier owner of the key vanished while its leased work ran, and nobody can tell whether its effect happened; the
 * work did not run.
 *
 * <p>Find out, then use a new key or forget the record; or run such work again by {@link
 * dev.idempotency.KeyedOperation#abandoned}, if repeating it is harmless.
 */
public final class OperationAbandonedException extends OperationException {
    private static final long serialVersionUID = 1L;

    OperationAbandonedException() {
        super(
                false,
                "An earlier attempt vanished while it ran, and its effect is not known: find out before running it again",
                null);
    }
}
