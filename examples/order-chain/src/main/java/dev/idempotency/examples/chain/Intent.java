package dev.idempotency.examples.chain;

import java.util.SplittableRandom;
import java.util.UUID;

/**
 * Something a customer means to buy once.
 *
 * @param number counted from 1
 * @param key the Idempotency-Key of every request for it
 * @param customer who buys
 * @param amountCents the price
 * @param twice true if two requests are sent for it at the same moment, as a double click does
 */
record Intent(int number, String key, String customer, long amountCents, boolean twice) {
    private static final double SENT_TWICE = 0.15;

    static Intent draw(int number, SplittableRandom random) {
        return new Intent(
                number,
                new UUID(random.nextLong(), random.nextLong()).toString(),
                "customer-" + random.nextInt(1, 40),
                random.nextLong(100, 50_000),
                random.nextDouble() < SENT_TWICE);
    }

    /** The name under which the intent stands in the database, for the count at the end. */
    String name() {
        return "intent-" + number;
    }
}
