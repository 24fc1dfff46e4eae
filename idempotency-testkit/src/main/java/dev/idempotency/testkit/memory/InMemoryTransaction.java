package dev.idempotency.testkit.memory;

import dev.idempotency.TransactionLostException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A transaction of an {@link InMemoryDatabase}; tests get it by {@code transaction.unwrap(InMemoryTransaction.class)} and
 * write through it.
 *
 * <p>Confined to its thread, but for {@link #kill()}.
 */
public final class InMemoryTransaction implements Transaction {
    private final InMemoryDatabase database;
    private final long id;
    private final TransactionLimits limits;
    private final List<Runnable> writes = new ArrayList<>();
    private final Set<Object> completed = new HashSet<>();
    private final List<Runnable> afterCommit = new ArrayList<>();
    private boolean rollbackOnlyByWork;
    private boolean ended;

    InMemoryTransaction(InMemoryDatabase database, long id, TransactionLimits limits) {
        this.database = database;
        this.id = id;
        this.limits = limits;
    }

    /**
     * Registers a change that happens when the transaction commits, together with all others of it.
     *
     * @param change what to do; it must not fail and must not use the database
     * @throws TransactionLostException if the transaction has ended or was killed
     */
    public void write(Runnable change) {
        Objects.requireNonNull(change, "change");
        synchronized (database) {
            requireRunning();
            writes.add(change);
        }
    }

    /** Ends the transaction as the death of its process would: nothing of it lasts, its locks are free. */
    public void kill() {
        database.kill(this);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new IllegalArgumentException(
                "A transaction in memory has a " + InMemoryTransaction.class.getName() + ", but no " + type.getName());
    }

    @Override
    public void flush() {
        // Nothing is held back.
    }

    @Override
    public void afterCommit(Runnable action) {
        afterCommit.add(Objects.requireNonNull(action, "action"));
    }

    @Override
    public void setRollbackOnly() {
        rollbackOnlyByWork = true;
    }

    @Override
    public boolean isRollbackOnly() {
        synchronized (database) {
            return rollbackOnlyByWork || ended;
        }
    }

    @Override
    public TransactionLimits limits() {
        return limits;
    }

    long id() {
        return id;
    }

    boolean isRollbackOnlyByWork() {
        return rollbackOnlyByWork;
    }

    void requireRunning() {
        if (ended) {
            throw new TransactionLostException(
                    "The transaction has ended or was killed; nothing of it is left: run it again", null);
        }
    }

    /** Notes that this record has been completed here, and tells whether that was the first time. */
    boolean isFirstCompletion(Object identity) {
        return completed.add(identity);
    }

    /** Called with the database locked. */
    void end(boolean committed) {
        if (!ended && committed) {
            writes.forEach(Runnable::run);
        }
        ended = true;
    }

    void runAfterCommit() {
        afterCommit.forEach(Runnable::run);
    }
}
