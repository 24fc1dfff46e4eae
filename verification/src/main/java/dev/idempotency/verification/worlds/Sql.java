package dev.idempotency.verification.worlds;

import dev.idempotency.verification.worlds.OpenTransaction.Status;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one statement may do within its transaction at READ COMMITTED: it sees what is committed when it begins and what
 * its own transaction has written. A wait for another transaction is {@link Blocked}.
 */
final class Sql {
    /** Stands in the place of a deleted row in a transaction's writes. */
    static final Object DELETED = new Object() {
        @Override
        public String toString() {
            return "deleted";
        }
    };

    private final State state;
    private final String id;

    private Sql(State state, String id) {
        this.state = state;
        this.id = id;
    }

    /** Begins the transaction if this is its first statement. */
    static Sql on(State state, String id, int process) {
        OpenTransaction transaction = state.transaction(id);
        if (transaction == null) {
            state.putTransaction(id, OpenTransaction.begun(process, state.now()));
        } else if (transaction.status() == Status.FAILED) {
            throw new DatabaseError(DatabaseError.Kind.IN_FAILED_TRANSACTION);
        }
        return new Sql(state, id);
    }

    State state() {
        return state;
    }

    String id() {
        return id;
    }

    private OpenTransaction own() {
        OpenTransaction transaction = state.transaction(id);
        if (transaction == null) {
            throw new IllegalStateException("The transaction " + id + " has ended");
        }
        return transaction;
    }

    /** Which of the server's transactions on this connection this is: another one after a rollback unseen by the client. */
    int serial() {
        return own().serial();
    }

    @Nullable
    Object find(String cell) {
        Object written = own().writes().get(cell);
        if (written != null) {
            return written == DELETED ? null : written;
        }
        return state.rows().get(cell);
    }

    <T> @Nullable T find(String cell, Class<T> type) {
        return type.cast(find(cell));
    }

    /** The rows visible to this statement whose cell begins so. */
    SortedMap<String, Object> scan(String prefix) {
        SortedMap<String, Object> found = new TreeMap<>(state.rows(prefix));
        for (Map.Entry<String, Object> written :
                own().writes().subMap(prefix, prefix + '\uffff').entrySet()) {
            if (written.getValue() == DELETED) {
                found.remove(written.getKey());
            } else {
                found.put(written.getKey(), written.getValue());
            }
        }
        return found;
    }

    /** Tells whether another transaction has written or locked the row and has not ended. */
    boolean isHeldByAnother(String cell) {
        return holder(cell) != null;
    }

    private @Nullable OpenTransaction holder(String cell) {
        for (Map.Entry<String, OpenTransaction> other : state.transactions().entrySet()) {
            if (!other.getKey().equals(id)
                    && (other.getValue().writes().containsKey(cell)
                            || other.getValue().locks().contains(cell))) {
                return other.getValue();
            }
        }
        return null;
    }

    /** Waits until nobody else holds the row. */
    void await(String cell) {
        OpenTransaction holder = holder(cell);
        if (holder != null) {
            throw new Blocked(holder.owner());
        }
    }

    /** Inserts a row, or fails with a duplicate key; waits for whoever has inserted the same key. */
    void insert(String cell, Object row) {
        if (!insertIfAbsent(cell, row)) {
            throw new DatabaseError(DatabaseError.Kind.DUPLICATE_KEY);
        }
    }

    /** Inserts a row unless there is one; waits for whoever has inserted the same key. */
    boolean insertIfAbsent(String cell, Object row) {
        await(cell);
        if (find(cell) != null) {
            return false;
        }
        write(cell, row);
        return true;
    }

    /** Writes a row that this transaction may write, because it has waited for others or nobody else can have it. */
    void write(String cell, Object row) {
        state.putTransaction(id, own().with(cell, row));
    }

    void delete(String cell) {
        write(cell, DELETED);
    }

    /** Takes an advisory lock until the end of the transaction, unless another one has it. */
    boolean tryLock(String lock) {
        if (isHeldByAnother(lock)) {
            return false;
        }
        state.putTransaction(id, own().withLock(lock));
        return true;
    }

    void lock(String lock) {
        await(lock);
        state.putTransaction(id, own().withLock(lock));
    }

    /** Draws from a sequence; not undone by a rollback. */
    long next(String sequence) {
        long drawn = counter(sequence) + 1;
        state.changeRows(rows -> rows.put("sequence/" + sequence, drawn));
        return drawn;
    }

    long lastDrawn(String sequence) {
        return counter(sequence);
    }

    private long counter(String sequence) {
        return (Long) state.rows().getOrDefault("sequence/" + sequence, 0L);
    }

    /** The transaction's own id, given out now if it had none. */
    long xid() {
        if (own().xid() == 0) {
            state.putTransaction(id, own().withXid(next("xid")));
        }
        return own().xid();
    }

    /** The id of the oldest transaction with an id that is still running, or the next to be given out. */
    long oldestRunning() {
        return state.transactions().values().stream()
                .mapToLong(OpenTransaction::xid)
                .filter(running -> running > 0)
                .min()
                .orElse(counter("xid") + 1);
    }

    /** The upper bound of a snapshot taken now: one more than the greatest id of a transaction that has ended. */
    long nextXid() {
        return counter("xid") + 1;
    }

    /** Makes the server end the transaction and begin another unseen, as a ROLLBACK sent as text does. */
    void restart() {
        state.putTransaction(id, own().emptied(Status.ACTIVE, own().serial() + 1));
    }
}
