package dev.idempotency.benchmarks.store;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.Effects;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.Marks;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** Batches of marks, with and without the rows that they guard. Used by one thread. */
final class MarkForms {
    /** How many events a transaction holds. */
    static final int BATCH = 500;

    private static final ConsumerId CONSUMER = ConsumerId.of("bench");

    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final DataSource pool;
    private final JdbiEventStore store;
    private final JdbiTransactionRunner transactions;
    private final List<EventId> processed;

    MarkForms(BenchDatabase database) {
        this.pool = database.pool();
        this.store = JdbiEventStore.of(pool);
        this.transactions = JdbiTransactionRunner.of(pool);
        store.register(CONSUMER);
        database.jdbi().useHandle(handle -> handle.execute("""
                CREATE TABLE bench_mark (
                    event_id uuid NOT NULL,
                    consumer_id smallint NOT NULL,
                    PRIMARY KEY (event_id, consumer_id)
                )
                """));
        this.processed = events(ids.next(BATCH));
        mark(processed, BATCH);
    }

    static short consumerNumber(BenchDatabase database) {
        return database.jdbi()
                .withHandle(handle -> handle.createQuery("SELECT consumer_id FROM event_consumer WHERE name = ?")
                        .bind(0, CONSUMER.value())
                        .mapTo(Short.class)
                        .one());
    }

    void byHand() throws SQLException {
        List<UUID> batch = ids.next(BATCH);
        Effects.inBareTransaction(pool, connection -> {
            try (PreparedStatement statement = connection.prepareStatement("""
                    INSERT INTO bench_mark (event_id, consumer_id)
                    SELECT id, 1
                    FROM unnest(?::uuid[]) AS given (id)
                    ON CONFLICT DO NOTHING
                    """)) {
                statement.setArray(1, connection.createArrayOf("uuid", batch.toArray()));
                require(BATCH, statement.executeUpdate());
            }
        });
    }

    void fresh() {
        mark(events(ids.next(BATCH)), BATCH);
    }

    void duplicates() {
        mark(processed, 0);
    }

    private void mark(List<EventId> events, int expected) {
        transactions.run(TransactionLimits.ofDefaults(), transaction -> {
            Marks marks = store.mark(transaction, CONSUMER, events);
            require(expected, marks.fresh().size());
            if (expected > 0) {
                store.confirm(transaction, marks);
            }
            return expected;
        });
    }

    void effectsAlone() throws SQLException {
        List<UUID> batch = ids.next(BATCH);
        Effects.inBareTransaction(pool, connection -> insertRowByRow(connection, batch));
    }

    void effectsMarkedAtOnce() throws SQLException {
        List<UUID> batch = ids.next(BATCH);
        List<EventId> events = events(batch);
        transactions.<Integer, SQLException>run(TransactionLimits.ofDefaults(), transaction -> {
            Marks marks = store.mark(transaction, CONSUMER, events);
            require(BATCH, marks.fresh().size());
            insertRowByRow(connection(transaction), batch);
            store.confirm(transaction, marks);
            return BATCH;
        });
    }

    void effectsMarkedOneByOne() throws SQLException {
        List<UUID> batch = ids.next(BATCH);
        Effects.inBareTransaction(pool, connection -> {
            for (UUID id : batch) {
                try (PreparedStatement statement = connection.prepareStatement(
                        "INSERT INTO bench_mark (event_id, consumer_id) VALUES (?, 1) ON CONFLICT DO NOTHING")) {
                    statement.setObject(1, id);
                    require(1, statement.executeUpdate());
                }
                Effects.insert(connection, id);
            }
        });
    }

    private static void insertRowByRow(Connection connection, List<UUID> batch) throws SQLException {
        for (UUID id : batch) {
            Effects.insert(connection, id);
        }
    }

    private static Connection connection(Transaction transaction) {
        return transaction.unwrap(Connection.class);
    }

    private static List<EventId> events(List<UUID> batch) {
        return batch.stream().map(EventId::of).toList();
    }

    private static void require(int expected, int found) {
        if (expected != found) {
            throw new IllegalStateException(
                    "Of " + BATCH + " marks " + expected + " were to be new, but " + found + " were");
        }
    }
}
