package dev.idempotency.benchmarks;

/** An option has a value that it cannot have; the message is one line that names option, value and range. */
final class InvalidOptionException extends Exception {
    InvalidOptionException(String message) {
        super(message);
    }
}
