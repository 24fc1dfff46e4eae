package dev.idempotency.jdbi;

import dev.idempotency.EventId;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What is done on the tables of events; a dialect's subclass says how. Every method runs in the caller's transaction. */
abstract class EventTables {
    private static final long EARLIEST_MILLIS =
            Instant.parse("0001-01-01T00:00:00Z").toEpochMilli();
    private static final long LATEST_MILLIS =
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    private final EventSql sql;

    EventTables(EventSql sql) {
        this.sql = sql;
    }

    static EventTables of(SqlDialect dialect, TableNames names, Connection connection) throws SQLException {
        return switch (dialect) {
            case POSTGRESQL ->
                new PostgreSqlEventTables(new PostgreSqlEventSql(names, PostgreSqlLimits.probe(connection)));
            case MARIADB -> new MariaDbEventTables(new MariaDbEventSql(names));
            case H2 -> new H2EventTables(new H2EventSql(names));
        };
    }

    // ---- consumers

    /** The consumer's name as a parameter, in the type of the column. */
    abstract Object name(String name);

    OptionalInt findConsumer(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.findConsumer())) {
            Parameters.of(statement).textOrBytes(name(name));
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? OptionalInt.of(rows.getInt(1)) : OptionalInt.empty();
            }
        }
    }

    void register(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.register())) {
            Parameters.of(statement).textOrBytes(name(name));
            statement.executeUpdate();
        }
    }

    // ---- marks

    /** Marks as the first statement of a transaction whose last one will be ours. */
    abstract Marks markFirst(Connection connection, TransactionLimits limits, int consumer, Map<UUID, EventId> ids)
            throws SQLException;

    /** Marks in a transaction that somebody else will end. */
    abstract Set<EventId> mark(Connection connection, int consumer, Map<UUID, EventId> ids) throws SQLException;

    /** Reads ids that were returned and finds the events they stand for. */
    static Set<EventId> events(ResultSet rows, Map<UUID, EventId> ids) throws SQLException {
        Set<EventId> events = new HashSet<>();
        while (rows.next()) {
            EventId event = ids.get(rows.getObject(1, UUID.class));
            if (event != null) {
                events.add(event);
            }
        }
        return events;
    }

    abstract boolean isProven(Connection connection, String proof) throws SQLException;

    void confirm(Connection connection, Marks marks) throws SQLException {
        try {
            if (!isProven(connection, marks.transactionProof())) {
                throw transactionLost(null);
            }
        } catch (SQLException e) {
            throw failedBefore(e);
        }
    }

    private static SQLException failedBefore(SQLException failure) {
        if (SqlErrors.isInFailedTransaction(failure)) {
            throw transactionLost(failure);
        }
        return failure;
    }

    private static TransactionLostException transactionLost(@Nullable SQLException cause) {
        return new TransactionLostException(
                "The marks of events were to be confirmed, but their transaction is over or has failed: a statement of"
                        + " the handler failed and its exception was swallowed, or the handler ended the transaction by"
                        + " a statement of its own. Let SQL exceptions out of the handler",
                cause);
    }

    abstract int deleteMarks(StoreDatabase database, TransactionLimits limits, Duration age, int limit);

    // ---- offsets

    abstract List<PartitionAssignment> assign(
            Connection connection,
            TransactionLimits limits,
            int consumer,
            List<EventPartition> partitions,
            String owner)
            throws SQLException;

    /** Begins an epoch of one partition. */
    @FunctionalInterface
    interface Beginning {
        void begin(EventPartition partition) throws SQLException;
    }

    /** Assigns where no statement can return the rows that it has changed. */
    final List<PartitionAssignment> assignOneByOne(
            Connection connection, int consumer, List<EventPartition> partitions, Beginning beginning)
            throws SQLException {
        List<PartitionAssignment> assignments = new ArrayList<>();
        for (EventPartition partition : partitions) {
            beginning.begin(partition);
            try (PreparedStatement statement = connection.prepareStatement(sql.findOffset())) {
                statement.setInt(1, consumer);
                statement.setObject(2, partition.topicId());
                statement.setInt(3, partition.number());
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    assignments.add(assignment(rows, partition));
                }
            }
        }
        return assignments;
    }

    /** Binds owner, consumer, topic id and partition. */
    static void bindOwner(PreparedStatement statement, int consumer, EventPartition partition, String owner)
            throws SQLException {
        statement.setString(1, owner);
        statement.setInt(2, consumer);
        statement.setObject(3, partition.topicId());
        statement.setInt(4, partition.number());
    }

    Set<EventPartition> advance(Connection connection, Marks marks, int consumer, List<OffsetAdvance> advances)
            throws SQLException {
        Set<EventPartition> fenced = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.advance())) {
            for (OffsetAdvance advance : advances) {
                bind(statement, marks, consumer, advance);
                statement.addBatch();
            }
            int[] counts = statement.executeBatch();
            for (int i = 0; i < counts.length; i++) {
                if (counts[i] != 1) {
                    fenced.add(advances.get(i).partition());
                }
            }
        } catch (SQLException e) {
            throw failedBefore(e);
        }
        if (!fenced.isEmpty() || advances.isEmpty()) {
            confirm(connection, marks);
        }
        return fenced;
    }

    private static void bind(PreparedStatement statement, Marks marks, int consumer, OffsetAdvance advance)
            throws SQLException {
        statement.setLong(1, advance.to());
        statement.setInt(2, consumer);
        statement.setObject(3, advance.partition().topicId());
        statement.setInt(4, advance.partition().number());
        statement.setLong(5, advance.epoch());
        Long from = advance.from();
        if (from == null) {
            statement.setNull(6, Types.BIGINT);
        } else {
            statement.setLong(6, from);
        }
        statement.setLong(7, Long.parseLong(marks.transactionProof()));
    }

    OptionalInt start(Connection connection, int consumer, PartitionAssignment assignment, long offset)
            throws SQLException {
        EventPartition partition = assignment.partition();
        try (PreparedStatement update = connection.prepareStatement(sql.start())) {
            update.setLong(1, offset);
            update.setLong(2, assignment.epoch());
            update.setLong(3, offset);
            update.setInt(4, consumer);
            update.setObject(5, partition.topicId());
            update.setInt(6, partition.number());
            update.setLong(7, assignment.epoch());
            if (update.executeUpdate() == 0) {
                return OptionalInt.empty();
            }
        }
        try (PreparedStatement query = connection.prepareStatement(sql.findStarts())) {
            query.setInt(1, consumer);
            query.setObject(2, partition.topicId());
            query.setInt(3, partition.number());
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                return OptionalInt.of(rows.getInt(1));
            }
        }
    }

    void settle(Connection connection, int consumer, PartitionAssignment assignment, long offset) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.settle())) {
            statement.setLong(1, offset);
            statement.setInt(2, consumer);
            statement.setObject(3, assignment.partition().topicId());
            statement.setInt(4, assignment.partition().number());
            statement.setLong(5, assignment.epoch());
            statement.executeUpdate();
        }
    }

    // ---- parked events

    void park(Connection connection, int consumer, ParkedEvent event) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.park())) {
            bindPlace(statement, consumer, event.partition(), event.offset());
            Parameters.from(statement, 5)
                    .text(event.partition().topic())
                    .text(event.id().value())
                    .bigint(storable(event.timestamp()))
                    .integer(event.attempts())
                    // PostgreSQL keeps no zero characters, and a reason is for people.
                    .text(event.reason().replace('\0', ' '))
                    .bytes(event.key())
                    .bytes(event.value())
                    .bytes(ParkedHeaders.encode(event.headers()));
            statement.executeUpdate();
        }
    }

    /**
     * Any producer may write any time, microseconds for milliseconds, say. One that no database knows must not be what keeps
     * the event from being parked.
     */
    private static long storable(Instant time) {
        return Math.max(EARLIEST_MILLIS, Math.min(time.toEpochMilli(), LATEST_MILLIS));
    }

    List<byte[]> findParkedKeys(Connection connection, int consumer, EventPartition partition, int limit)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.findParkedKeys())) {
            statement.setInt(1, consumer);
            statement.setObject(2, partition.topicId());
            statement.setInt(3, partition.number());
            statement.setInt(4, limit);
            try (ResultSet rows = statement.executeQuery()) {
                List<byte[]> keys = new ArrayList<>();
                while (rows.next()) {
                    keys.add(rows.getBytes(1));
                }
                return keys;
            }
        }
    }

    OptionalLong lockFirstParked(Connection connection, int consumer, EventPartition partition, byte[] key)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.lockFirstParked())) {
            statement.setInt(1, consumer);
            statement.setObject(2, partition.topicId());
            statement.setInt(3, partition.number());
            statement.setBytes(4, key);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    List<ParkedEvent> findParked(Connection connection, int consumer, @Nullable ParkedEvent after, int limit)
            throws SQLException {
        String query = after == null ? sql.findParked() : sql.findParkedAfter();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            int last = 2;
            if (after == null) {
                statement.setInt(1, consumer);
            } else {
                bindPlace(statement, consumer, after.partition(), after.offset());
                last = 5;
            }
            statement.setInt(last, limit);
            try (ResultSet rows = statement.executeQuery()) {
                List<ParkedEvent> events = new ArrayList<>();
                while (rows.next()) {
                    events.add(parkedEvent(rows));
                }
                return events;
            }
        }
    }

    Optional<ParkedEvent> lockParked(Connection connection, int consumer, EventPartition partition, long offset)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.lockParked())) {
            bindPlace(statement, consumer, partition, offset);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Optional.of(parkedEvent(rows)) : Optional.empty();
            }
        }
    }

    boolean unpark(Connection connection, int consumer, EventPartition partition, long offset) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.unpark())) {
            bindPlace(statement, consumer, partition, offset);
            return statement.executeUpdate() == 1;
        }
    }

    private static void bindPlace(PreparedStatement statement, int consumer, EventPartition partition, long offset)
            throws SQLException {
        statement.setInt(1, consumer);
        statement.setObject(2, partition.topicId());
        statement.setInt(3, partition.number());
        statement.setLong(4, offset);
    }

    private static ParkedEvent parkedEvent(ResultSet rows) throws SQLException {
        return new ParkedEvent(
                EventId.of(rows.getString("event_id")),
                new EventPartition(
                        rows.getString("topic"),
                        rows.getObject("topic_id", UUID.class),
                        rows.getInt("partition_number")),
                rows.getLong("record_offset"),
                rows.getBytes("record_key"),
                rows.getBytes("record_value"),
                ParkedHeaders.decode(rows.getBytes("record_headers")),
                Instant.ofEpochMilli(rows.getLong("recorded_millis")),
                rows.getInt("attempts"),
                rows.getString("reason"));
    }

    /** The assignment in the present row, whose columns are called as in the table. */
    static PartitionAssignment assignment(ResultSet row, EventPartition partition) throws SQLException {
        long epoch = row.getLong("epoch");
        boolean suspect = row.getBoolean("suspect");
        long next = row.getLong("next_offset");
        return new PartitionAssignment(partition, epoch, row.wasNull() ? null : next, suspect);
    }

    static List<OffsetAdvance> sorted(Collection<OffsetAdvance> advances) {
        List<OffsetAdvance> sorted = new ArrayList<>(advances);
        sorted.sort(Comparator.comparing(OffsetAdvance::partition));
        return sorted;
    }
}
