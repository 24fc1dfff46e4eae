package dev.idempotency.examples.chain;

/** An option is unknown or has a bad value; the message is the one line to show. */
final class InvalidOptionException extends Exception {
    InvalidOptionException(String message) {
        super(message);
    }
}
