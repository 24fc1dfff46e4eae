package dev.idempotency.testkit.memory;

import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.RolledBackException;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Transactions in memory, for tests of code that needs a runner and a store but no SQL.
 *
 * <p>What a transaction writes becomes visible, all of it at once, when it commits, and never when it rolls back. Nobody
 * waits: a lock that another transaction holds is refused. The clock can be moved on. Safe for use by many threads.
 */
public final class InMemoryDatabase implements TransactionRunner {
    private final InstantSource clock;
    private final Map<Object, InMemoryTransaction> locks = new HashMap<>();

    // One transaction per thread and database, not one per virtual machine; hence not static.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable InMemoryTransaction> current = new ThreadLocal<>();

    private Duration passed = Duration.ZERO;
    private long transactions;

    private InMemoryDatabase(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * Returns an empty database on the system's clock.
     *
     * @return the database
     */
    public static InMemoryDatabase create() {
        return create(InstantSource.system());
    }

    /**
     * Returns an empty database.
     *
     * @param clock the database's clock
     * @return the database
     */
    public static InMemoryDatabase create(InstantSource clock) {
        return new InMemoryDatabase(Objects.requireNonNull(clock, "clock"));
    }

    /**
     * Moves the database's clock on.
     *
     * @param duration how far
     */
    public synchronized void passTime(Duration duration) {
        passed = passed.plus(duration);
    }

    /**
     * Returns the database's time.
     *
     * @return now
     */
    public synchronized Instant now() {
        return clock.instant().plus(passed);
    }

    /**
     * Returns a runner on this database whose commits all lose their answer: it throws {@link
     * OutcomeUnknownException}.
     *
     * @param committed whether the commits happen all the same
     * @return the runner
     */
    public TransactionRunner losingTheCommit(boolean committed) {
        return new TransactionRunner() {
            @Override
            public <T extends @Nullable Object, X extends Exception> T run(
                    TransactionLimits limits, TransactionWork<T, X> work) throws X {
                return InMemoryDatabase.this.run(limits, work, transaction -> {
                    end(transaction, committed);
                    throw new OutcomeUnknownException(
                            "The commit's answer was lost", new IllegalStateException("Injected by the test"));
                });
            }
        };
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T run(TransactionLimits limits, TransactionWork<T, X> work)
            throws X {
        return run(limits, work, transaction -> end(transaction, true));
    }

    private <T extends @Nullable Object, X extends Exception> T run(
            TransactionLimits limits, TransactionWork<T, X> work, Consumer<InMemoryTransaction> commit) throws X {
        if (current.get() != null) {
            throw new IllegalStateException("This thread already runs a transaction of this database");
        }
        InMemoryTransaction transaction = begin(limits);
        current.set(transaction);
        T value;
        try {
            value = work.run(transaction);
        } catch (Throwable failure) {
            end(transaction, false);
            throw failure;
        } finally {
            current.remove();
        }
        if (isToBeCommitted(transaction)) {
            commit.accept(transaction);
            transaction.runAfterCommit();
        }
        return value;
    }

    private boolean isToBeCommitted(InMemoryTransaction transaction) {
        if (transaction.isRollbackOnlyByWork()) {
            end(transaction, false);
            return false;
        }
        if (transaction.isRollbackOnly()) {
            throw new RolledBackException("The work returned, but its transaction had been killed on the way", null);
        }
        return true;
    }

    private synchronized InMemoryTransaction begin(TransactionLimits limits) {
        transactions++;
        return new InMemoryTransaction(this, transactions, limits);
    }

    private synchronized void end(InMemoryTransaction transaction, boolean committed) {
        transaction.end(committed);
        locks.values().removeIf(owner -> owner == transaction);
    }

    /** Gives the lock to this transaction until its end, unless another one has it. */
    synchronized boolean tryLock(Object key, InMemoryTransaction transaction) {
        return locks.computeIfAbsent(key, absent -> transaction) == transaction;
    }

    synchronized boolean isLocked(Object key) {
        return locks.containsKey(key);
    }

    /** As if the process had died: the server notices, rolls back and frees the locks. */
    synchronized void kill(InMemoryTransaction transaction) {
        end(transaction, false);
    }
}
