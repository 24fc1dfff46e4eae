package dev.idempotency.jdbi;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.LocatedStore;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.StartedAttemptStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps marks, offsets and parked events in the tables {@code processed_event}, {@code partition_offset} and {@code
 * parked_event} of a PostgreSQL, MariaDB or H2 database; applications make one per database and give it to a consumer.
 *
 * <p>What joins a transaction runs in the one it is given: any runner will do whose transactions have a {@link Connection}
 * to the same database. The rest opens short transactions of its own on the store's data source, and must not be called
 * inside another.
 *
 * <p>On PostgreSQL, of which 14 is the oldest version, marking any number of events is one execution. On H2 the waits for
 * locks are bounded by the database's own LOCK_TIMEOUT. All times are the database's.
 *
 * <p>Safe for use by many threads. It does not own the data source.
 */
public final class JdbiEventStore implements StartedAttemptStore, ParkedEventStore, LocatedStore {
    private static final Duration SHORTEST_AGE = Duration.ofMinutes(1);

    private static final int MOST_MARKS = 100_000;
    private static final int MOST_PARKED = 1_000;
    private static final int LONGEST_OWNER = 200;

    /** Between not finding a name and adding it another process can add it, but not twice. */
    private static final int MAX_ROUNDS = 3;

    private final StoreDatabase database;
    private final EventTables tables;
    private final TransactionLimits limits;
    private final Map<ConsumerId, Integer> consumers = new ConcurrentHashMap<>();

    private JdbiEventStore(StoreDatabase database, EventTables tables, TransactionLimits limits) {
        this.database = database;
        this.tables = tables;
        this.limits = limits;
    }

    /**
     * Returns a store with the default limits.
     *
     * @param dataSource the database
     * @return the store
     * @throws dev.idempotency.SchemaException if a table, a column or a unique index is missing; the message holds the
     *     statements that add it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws IllegalArgumentException if it is none of PostgreSQL, MariaDB and H2
     * @throws IllegalStateException if its connections have {@code autosave=always}
     */
    public static JdbiEventStore of(DataSource dataSource) {
        return of(dataSource, TransactionLimits.ofDefaults());
    }

    /**
     * Returns a store.
     *
     * @param dataSource the database; of a {@link dev.idempotency.transaction.JoiningDataSource} the pool behind it
     * @param limits the bounds of waits inside the store's own transactions
     * @return the store
     * @throws dev.idempotency.SchemaException if a table, a column or a unique index is missing; the message holds the
     *     statements that add it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws IllegalArgumentException if it is none of PostgreSQL, MariaDB and H2
     * @throws IllegalStateException if its connections have {@code autosave=always}
     */
    public static JdbiEventStore of(DataSource dataSource, TransactionLimits limits) {
        return of(dataSource, limits, TableNames.ofDefaults());
    }

    static JdbiEventStore of(DataSource dataSource, TransactionLimits limits, TableNames names) {
        Objects.requireNonNull(limits, "limits");
        StoreDatabase database = StoreDatabase.connect(dataSource, names, SchemaSubject.EVENTS);
        EventTables tables =
                database.inOwnTransaction("The look at the database's settings", limits, (transaction, connection) -> {
                    transaction.setRollbackOnly();
                    return EventTables.of(database.dialect(), names, connection);
                });
        return new JdbiEventStore(database, tables, limits);
    }

    @Override
    public void register(ConsumerId consumer) {
        Objects.requireNonNull(consumer, "consumer");
        if (consumers.containsKey(consumer)) {
            return;
        }
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            OptionalInt id = database.inOwnTransaction(
                    "The registration of a consumer",
                    limits,
                    (transaction, connection) -> findOrAdd(connection, consumer.value()));
            if (id.isPresent()) {
                consumers.put(consumer, id.getAsInt());
                return;
            }
        }
        throw new StoreConflictException(
                "The consumer " + consumer.value() + " could not be registered: others register it and it is not found;"
                        + " try again",
                null);
    }

    /** Only what a committed transaction has left is believed: a row that was just added is found in the next round. */
    private OptionalInt findOrAdd(Connection connection, String name) throws SQLException {
        OptionalInt found = tables.findConsumer(connection, name);
        if (found.isEmpty()) {
            try {
                tables.register(connection, name);
            } catch (SQLException e) {
                if (!SqlErrors.isDuplicateKey(e)) {
                    throw e;
                }
            }
        }
        return found;
    }

    private int number(ConsumerId consumer) {
        Integer number = consumers.get(consumer);
        if (number == null) {
            throw new IllegalStateException("The consumer " + consumer.value()
                    + " is not registered with this store: call register before its first transaction");
        }
        return number;
    }

    @Override
    public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
        int number = number(consumer);
        Map<UUID, EventId> stored = new LinkedHashMap<>();
        for (EventId id : ids) {
            stored.put(StoredEventIds.of(id), id);
        }
        return join("The marks of " + stored.size() + " events", transaction, connection -> {
            if (transaction instanceof Transaction own) {
                return tables.markFirst(connection, own.limits(), number, stored);
            }
            return new Marks(stored.isEmpty() ? Set.of() : tables.mark(connection, number, stored), "");
        });
    }

    @Override
    public void confirm(Transaction transaction, Marks marks) {
        join("The confirmation of marks", transaction, connection -> {
            tables.confirm(connection, marks);
            return true;
        });
    }

    @Override
    public int deleteMarks(Duration age, int limit) {
        if (age.compareTo(SHORTEST_AGE) < 0) {
            throw new IllegalArgumentException("The age must be at least 1 minute, but is " + age);
        }
        checkLimit(limit, MOST_MARKS);
        return tables.deleteMarks(database, limits, age, limit);
    }

    @Override
    public List<PartitionAssignment> assign(ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
        int number = number(consumer);
        if (partitions.isEmpty()) {
            return List.of();
        }
        List<EventPartition> sorted = new ArrayList<>(partitions);
        Collections.sort(sorted);
        String shortOwner = owner.length() > LONGEST_OWNER ? owner.substring(0, LONGEST_OWNER) : owner;
        return database.inOwnTransaction(
                "The assignment of partitions",
                limits,
                (transaction, connection) -> tables.assign(connection, limits, number, sorted, shortOwner));
    }

    @Override
    public Set<EventPartition> advance(
            Transaction transaction, Marks marks, ConsumerId consumer, Collection<OffsetAdvance> advances) {
        int number = number(consumer);
        return join(
                "The advance of offsets",
                transaction,
                connection -> tables.advance(connection, marks, number, EventTables.sorted(advances)));
    }

    @Override
    public OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        int number = number(consumer);
        return database.inOwnTransaction("The start of an attempt", limits, (transaction, connection) -> {
            tables.markFirst(connection, limits, number, Map.of());
            return tables.start(connection, number, assignment, offset);
        });
    }

    @Override
    public void settle(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        int number = number(consumer);
        database.inOwnTransaction("The end of an attempt", limits, (transaction, connection) -> {
            tables.markFirst(connection, limits, number, Map.of());
            tables.settle(connection, number, assignment, offset);
            return true;
        });
    }

    @Override
    public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
        int number = number(consumer);
        join("The parking of an event", transaction, connection -> {
            tables.park(connection, number, event);
            return true;
        });
    }

    @Override
    public List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit) {
        int number = number(consumer);
        checkLimit(limit, MOST_PARKED);
        return database.inOwnTransaction(
                "The look for parked events",
                limits,
                (transaction, connection) -> tables.findParked(connection, number, after, limit));
    }

    @Override
    public List<byte[]> findParkedKeys(ConsumerId consumer, EventPartition partition, int limit) {
        int number = number(consumer);
        checkLimit(limit, MOST_PARKED);
        return database.inOwnTransaction(
                "The look for keys of parked events",
                limits,
                (transaction, connection) -> tables.findParkedKeys(connection, number, partition, limit));
    }

    @Override
    public OptionalLong lockFirstParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, byte[] key) {
        int number = number(consumer);
        return join("The lock on the first parked event of a key", transaction, connection -> {
            putInForce(connection, transaction, number);
            return tables.lockFirstParked(connection, number, partition, key);
        });
    }

    @Override
    public String location() {
        return database.location("processed_event");
    }

    @Override
    public String location(TransactionContext transaction) {
        return database.location(transaction, "processed_event");
    }

    @Override
    public Optional<ParkedEvent> lockParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        int number = number(consumer);
        return join("The lock on a parked event", transaction, connection -> {
            putInForce(connection, transaction, number);
            return tables.lockParked(connection, number, partition, offset);
        });
    }

    /** A statement that may wait may be the transaction's first one: the limits must be in force (rule T9). */
    private void putInForce(Connection connection, TransactionContext transaction, int number) throws SQLException {
        if (transaction instanceof Transaction own) {
            tables.markFirst(connection, own.limits(), number, Map.of());
        }
    }

    @Override
    public boolean unpark(TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        int number = number(consumer);
        return join(
                "The removal of a parked event",
                transaction,
                connection -> tables.unpark(connection, number, partition, offset));
    }

    private <T extends @Nullable Object> T join(
            String attempted, TransactionContext transaction, Statements<T> statements) {
        try {
            return statements.run(database.connection(transaction));
        } catch (SQLException e) {
            throw SqlErrors.translate(attempted, e);
        }
    }

    private static void checkLimit(int limit, int most) {
        if (limit < 1 || limit > most) {
            throw new IllegalArgumentException("The limit must be between 1 and " + most + ", but is " + limit);
        }
    }

    /** Statements on the connection of the caller's transaction. */
    @FunctionalInterface
    private interface Statements<T extends @Nullable Object> {
        T run(Connection connection) throws SQLException;
    }
}
