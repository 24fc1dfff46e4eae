package dev.idempotency.verification.matrix;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.OutboxEvent;
import dev.idempotency.jdbi.JdbiOutboxStore;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** The work of all operations: a row, and an event beside it where there is a transaction that holds both. */
final class Work {
    static final String ITEM = "order";

    private final Site site;
    private final Steps steps;
    private final Mutant mutant;
    private final Habit habit;
    private final Outbox outbox;

    /** How the work treats its connection. */
    enum Habit {
        GOOD,
        /** An error is caught and forgotten, as applications do: "it is only the audit log". */
        SWALLOWS_ERRORS
    }

    Work(Site site, Steps steps, Mutant mutant, Habit habit) {
        this.site = site;
        this.steps = steps;
        this.mutant = mutant;
        this.habit = habit;
        this.outbox = Outbox.of(Stepped.outbox(LeasedOutboxStore.class, JdbiOutboxStore.of(site.outside()), steps));
    }

    void run(String key, IdempotencyContext context) throws SQLException {
        Optional<Transaction> transaction = context.transaction();
        String derived = context.derive(ITEM).value();
        if (transaction.isPresent() && !mutant.writesElsewhere()) {
            Sql.effect(transaction.get().unwrap(Connection.class), key, ITEM, derived);
        } else {
            try (Connection connection = site.outside().getConnection()) {
                Sql.effect(connection, key, ITEM, derived);
            }
        }
        if (transaction.isPresent()) {
            outbox.append(
                    transaction.get(),
                    OutboxEvent.to("orders").key(key).payload(key).build());
            if (habit == Habit.SWALLOWS_ERRORS) {
                swallow(transaction.get().unwrap(Connection.class));
            }
        }
        steps.reached("work.done");
    }

    private static void swallow(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO no_such_table VALUES (1)");
        } catch (SQLException swallowed) {
            // Only the database knows now that this transaction has failed.
        }
    }
}
