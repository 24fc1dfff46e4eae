package dev.idempotency.verification.worlds;

import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A transaction as its client sees it: statements are steps, and errors of class 40 and 08 make it rollback-only. */
final class SimulatedTransaction implements Transaction {
    private final Actor actor;
    private final String id;
    private final long number;
    private final List<Runnable> afterCommit = new ArrayList<>();
    private TransactionLimits limits = TransactionLimits.ofDefaults();
    private boolean used;
    private boolean rollbackOnlyByWork;
    private boolean lost;
    private boolean disconnected;

    SimulatedTransaction(Actor actor, String id, long number) {
        this.actor = actor;
        this.id = id;
        this.number = number;
    }

    SimulatedTransaction within(TransactionLimits bounds) {
        limits = bounds;
        return this;
    }

    String id() {
        return id;
    }

    /** A number that no other transaction has. */
    long number() {
        return number;
    }

    /** One statement of the library. */
    @Nullable
    Object statement(String label, Function<Sql, @Nullable Object> act) {
        return execute(label, Pending.Kind.STATEMENT, act);
    }

    <T> T statement(String label, Class<T> type, Function<Sql, T> act) {
        return Actor.required(type, execute(label, Pending.Kind.STATEMENT, act::apply));
    }

    /** One statement of the user's work. */
    @Nullable
    Object work(String label, Function<Sql, @Nullable Object> act) {
        return execute(label, Pending.Kind.WORK_STATEMENT, act);
    }

    private @Nullable Object execute(String label, Pending.Kind kind, Function<Sql, @Nullable Object> act) {
        if (disconnected) {
            throw new DatabaseError(DatabaseError.Kind.CONNECTION_LOST);
        }
        used = true;
        int process = actor.process();
        try {
            return actor.step(new Pending(id + ": " + label, kind, id, state -> act.apply(Sql.on(state, id, process))));
        } catch (DatabaseError e) {
            lost |= e.endsTheTransaction();
            disconnected |= e.kind() == DatabaseError.Kind.CONNECTION_LOST;
            throw e;
        }
    }

    /** Sends COMMIT, which PostgreSQL answers with a rollback, and without an error, if the transaction has failed. */
    void commit() {
        if (!used) {
            return;
        }
        actor.step(new Pending(id + ": COMMIT", Pending.Kind.COMMIT, id, state -> {
            OpenTransaction transaction = state.transaction(id);
            if (transaction != null && transaction.status() == OpenTransaction.Status.FAILED) {
                state.rollBack(id);
            } else {
                state.makeDurable(id);
            }
            return "done";
        }));
    }

    /** A connection that is gone needs no rollback: the server will see to it. */
    void rollBack() {
        if (!used || disconnected) {
            return;
        }
        actor.step(new Pending(id + ": ROLLBACK", Pending.Kind.ROLLBACK, id, state -> {
            state.rollBack(id);
            return "done";
        }));
    }

    boolean isLost() {
        return lost;
    }

    boolean isRollbackOnlyByWork() {
        return rollbackOnlyByWork;
    }

    void runAfterCommit() {
        afterCommit.forEach(Runnable::run);
    }

    @Override
    public void flush() {
        // Nothing is held back.
    }

    @Override
    public void afterCommit(Runnable action) {
        afterCommit.add(action);
    }

    @Override
    public void setRollbackOnly() {
        rollbackOnlyByWork = true;
    }

    @Override
    public boolean isRollbackOnly() {
        return rollbackOnlyByWork || lost;
    }

    @Override
    public TransactionLimits limits() {
        return limits;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        return type.cast(this);
    }
}
