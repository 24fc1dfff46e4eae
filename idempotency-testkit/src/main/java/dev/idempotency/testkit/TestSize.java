package dev.idempotency.testkit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How long the contracts' random and racing parts run, and from which seed. */
final class TestSize {
    private static final Logger log = LoggerFactory.getLogger(TestSize.class);

    private TestSize() {}

    /** Rounds of a race: as given, a third in the fast profile, ten times as many in the full one. */
    static int rounds(int usual) {
        return switch (System.getProperty("idempotency.profile", "ci")) {
            case "fast" -> Math.max(1, usual / 3);
            case "full" -> usual * 10;
            default -> usual;
        };
    }

    /** A new seed, or that of {@code -Didempotency.seed=}; it is printed, so that a failure can be run again. */
    static long seed(String test) {
        long seed = Long.getLong("idempotency.seed", System.nanoTime());
        log.info("{} runs with -Didempotency.seed={}", test, seed);
        return seed;
    }
}
