package dev.idempotency.testkit.memory;

import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** What the event contracts need of a database in memory. */
final class InMemoryEvents {
    final InMemoryDatabase database = InMemoryDatabase.create();
    private final Map<String, Integer> effects = new ConcurrentHashMap<>();

    void inCallersTransaction(boolean commit, Consumer<TransactionContext> work) {
        database.run(TransactionLimits.ofDefaults(), transaction -> {
            work.accept(new Joined(transaction));
            if (!commit) {
                transaction.setRollbackOnly();
            }
            return true;
        });
    }

    void addEffect(Transaction transaction, String name) {
        transaction.unwrap(InMemoryTransaction.class).write(() -> effects.merge(name, 1, Integer::sum));
    }

    int countEffects(String name) {
        return effects.getOrDefault(name, 0);
    }

    /** A transaction that says no more than a caller's. */
    private record Joined(Transaction transaction) implements TransactionContext {
        @Override
        public <T> T unwrap(Class<T> type) {
            return transaction.unwrap(type);
        }
    }
}
