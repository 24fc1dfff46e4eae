package dev.idempotency.examples.chain;

/** The demo itself could not run, which says nothing of the chain; the message is for the person who started it. */
final class DemoFailedException extends Exception {
    DemoFailedException(String message) {
        super(message);
    }

    DemoFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
