package dev.idempotency.examples.billing;

/** A charge was not confirmed. It may have been made all the same; asking again with the same key is safe. */
final class PaymentException extends RuntimeException {
    PaymentException(String message) {
        super(message);
    }
}
