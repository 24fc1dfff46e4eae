package dev.idempotency.transaction;

import java.time.Duration;
import java.util.Objects;

/**
 * The bounds of every wait inside one transaction (DESIGN rule T9), put in force on the server where it knows them.
 *
 * @param lockWait the longest wait for a lock that another transaction holds; 1 ms to 24 h, 2 s by default
 * @param statement the longest run of one statement; 1 ms to 24 h, 10 s by default
 * @param idle how long the transaction may stay open without a statement before the server ends it; 1 ms to 24 h, 15 s
 *     by default: the bound on how long a stopped process keeps its locks, and so also on work between two statements
 */
public record TransactionLimits(Duration lockWait, Duration statement, Duration idle) {
    private static final Duration LONGEST = Duration.ofHours(24);

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException if one is shorter than 1 ms or longer than 24 h; the message names it
     */
    public TransactionLimits {
        check("lockWait", lockWait);
        check("statement", statement);
        check("idle", idle);
    }

    /**
     * Returns the defaults: 2 s, 10 s, 15 s.
     *
     * @return the limits
     */
    public static TransactionLimits ofDefaults() {
        return new TransactionLimits(Duration.ofSeconds(2), Duration.ofSeconds(10), Duration.ofSeconds(15));
    }

    /**
     * Returns these limits with another bound on waits for locks.
     *
     * @param duration the bound
     * @return the limits
     */
    public TransactionLimits withLockWait(Duration duration) {
        return new TransactionLimits(duration, statement, idle);
    }

    /**
     * Returns these limits with another bound on statements.
     *
     * @param duration the bound
     * @return the limits
     */
    public TransactionLimits withStatement(Duration duration) {
        return new TransactionLimits(lockWait, duration, idle);
    }

    /**
     * Returns these limits with another bound on idleness.
     *
     * @param duration the bound
     * @return the limits
     */
    public TransactionLimits withIdle(Duration duration) {
        return new TransactionLimits(lockWait, statement, duration);
    }

    private static void check(String name, Duration duration) {
        Objects.requireNonNull(duration, name);
        if (duration.toMillis() < 1 || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "The limit " + name + " must be between 1 ms and 24 h, but is " + duration);
        }
    }
}
