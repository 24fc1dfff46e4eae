package dev.idempotency.verification.worlds;

import dev.idempotency.verification.worlds.OpenTransaction.Status;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything there is at one moment: the database, the world outside of it, where each process stands, and what may still
 * go wrong. Equal states are visited once. Copied before it is changed; maps are shared by copies until one changes them.
 */
final class State {
    private SortedMap<String, Object> rows;
    private SortedMap<String, Object> outside;
    private SortedMap<String, OpenTransaction> transactions;
    private final int[] positions;
    private final int[] lives;
    private final int[] budgets;
    private int now;
    private @Nullable String violation;
    private int hash;

    State(int processes) {
        this.rows = Collections.emptySortedMap();
        this.outside = Collections.emptySortedMap();
        this.transactions = Collections.emptySortedMap();
        this.positions = new int[processes];
        this.lives = new int[processes];
        this.budgets = new int[Budget.KINDS];
    }

    private State(State from) {
        this.rows = from.rows;
        this.outside = from.outside;
        this.transactions = from.transactions;
        this.positions = from.positions.clone();
        this.lives = from.lives.clone();
        this.budgets = from.budgets.clone();
        this.now = from.now;
        this.violation = from.violation;
    }

    State copy() {
        return new State(this);
    }

    /** What is committed, by cell. */
    SortedMap<String, Object> rows() {
        return rows;
    }

    /** The committed rows whose cell begins so. */
    SortedMap<String, Object> rows(String prefix) {
        return rows.subMap(prefix, prefix + '\uffff');
    }

    void changeRows(Consumer<SortedMap<String, Object>> change) {
        rows = changed(rows, change);
    }

    SortedMap<String, Object> outside() {
        return outside;
    }

    SortedMap<String, Object> outside(String prefix) {
        return outside.subMap(prefix, prefix + '\uffff');
    }

    <T> @Nullable T outside(String name, Class<T> type) {
        return type.cast(outside.get(name));
    }

    void putOutside(String name, Object value) {
        outside = changed(outside, map -> map.put(name, value));
    }

    void removeOutside(String name) {
        if (outside.containsKey(name)) {
            outside = changed(outside, map -> map.remove(name));
        }
    }

    /** Adds to a list in the outside world. */
    void appendOutside(String name, Object value) {
        List<?> present = (List<?>) outside.getOrDefault(name, List.of());
        Object[] longer = Arrays.copyOf(present.toArray(), present.size() + 1, Object[].class);
        longer[present.size()] = value;
        putOutside(name, List.of(longer));
    }

    List<?> listOutside(String name) {
        return (List<?>) outside.getOrDefault(name, List.of());
    }

    SortedMap<String, OpenTransaction> transactions() {
        return transactions;
    }

    @Nullable
    OpenTransaction transaction(String id) {
        return transactions.get(id);
    }

    void putTransaction(String id, OpenTransaction transaction) {
        transactions = changed(transactions, map -> map.put(id, transaction));
    }

    private void removeTransaction(String id) {
        transactions = changed(transactions, map -> map.remove(id));
    }

    void rollBack(String id) {
        if (transactions.containsKey(id)) {
            removeTransaction(id);
        }
    }

    void makeDurable(String id) {
        OpenTransaction transaction = transactions.get(id);
        if (transaction == null) {
            return;
        }
        changeRows(map -> transaction.writes().forEach((cell, row) -> {
            if (row == Sql.DELETED) {
                map.remove(cell);
            } else {
                map.put(cell, row);
            }
        }));
        removeTransaction(id);
    }

    /** The process or its connection is gone: the server will notice later. */
    void abandon(String id, boolean committing) {
        OpenTransaction transaction = transactions.get(id);
        if (transaction == null || transaction.owner() < 0) {
            return;
        }
        if (transaction.status() == Status.FAILED) {
            removeTransaction(id);
        } else {
            putTransaction(id, transaction.abandoned(committing ? Status.IN_DOUBT : Status.ORPHANED));
        }
    }

    /** What the server does to a transaction one of whose statements has failed. */
    void failed(String id, DatabaseError.Kind kind, Dialect dialect) {
        OpenTransaction transaction = transactions.get(id);
        if (transaction == null) {
            return;
        }
        if (dialect == Dialect.POSTGRESQL) {
            putTransaction(id, transaction.emptied(Status.FAILED, transaction.serial()));
        } else if (kind == DatabaseError.Kind.CONFLICT) {
            putTransaction(id, transaction.emptied(Status.ACTIVE, transaction.serial() + 1));
        }
    }

    int now() {
        return now;
    }

    void passTime(int units) {
        now += units;
    }

    int budget(Budget budget) {
        return budgets[budget.place()];
    }

    void setBudget(Budget budget, int times) {
        budgets[budget.place()] = times;
    }

    /** Uses one up, and tells whether there was one. */
    boolean spend(Budget budget) {
        if (budgets[budget.place()] == 0) {
            return false;
        }
        budgets[budget.place()]--;
        return true;
    }

    int processes() {
        return positions.length;
    }

    int position(int process) {
        return positions[process];
    }

    void setPosition(int process, int node) {
        positions[process] = node;
    }

    int life(int process) {
        return lives[process];
    }

    void nextLife(int process) {
        lives[process]++;
    }

    /** Nobody is here any more and nothing can go wrong: what is left is what they did. */
    void forgetProcesses() {
        Arrays.fill(positions, 0);
        Arrays.fill(lives, 0);
        Arrays.fill(budgets, 0);
    }

    @Nullable
    String violation() {
        return violation;
    }

    /** Says that something happened that must never happen; the first one is kept. */
    void violate(String what) {
        if (violation == null) {
            violation = what;
        }
    }

    private static <V> SortedMap<String, V> changed(SortedMap<String, V> map, Consumer<SortedMap<String, V>> change) {
        TreeMap<String, V> copy = new TreeMap<>(map);
        change.accept(copy);
        return copy;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof State that
                && hashCode() == that.hashCode()
                && now == that.now
                && Arrays.equals(positions, that.positions)
                && Arrays.equals(lives, that.lives)
                && Arrays.equals(budgets, that.budgets)
                && rows.equals(that.rows)
                && outside.equals(that.outside)
                && transactions.equals(that.transactions)
                && Objects.equals(violation, that.violation);
    }

    /** Computed once: a state is not changed any more when it is first compared. */
    @Override
    public int hashCode() {
        if (hash == 0) {
            int computed = Arrays.hashCode(positions);
            computed = 31 * computed + Arrays.hashCode(lives);
            computed = 31 * computed + Arrays.hashCode(budgets);
            computed = 31 * computed + now;
            computed = 31 * computed + rows.hashCode();
            computed = 31 * computed + outside.hashCode();
            computed = 31 * computed + transactions.hashCode();
            hash = computed == 0 ? 1 : computed;
        }
        return hash;
    }

    @Override
    public String toString() {
        return "State[rows=" + rows + ", outside=" + outside + ", transactions=" + transactions + ", now=" + now + "]";
    }
}
