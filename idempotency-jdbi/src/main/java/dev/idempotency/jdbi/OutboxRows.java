package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreException;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.HeldKeys;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Runs the statements of {@link OutboxSql} on a connection inside a transaction; one class per dialect. */
abstract class OutboxRows {
    private final OutboxSql sql;

    OutboxRows(OutboxSql sql) {
        this.sql = sql;
    }

    /** Inserts the events and returns the ids that were not inserted, because they are there already. */
    abstract Set<UUID> insert(Connection connection, List<OutboxEvent> events) throws SQLException;

    /** Inserts events whose ids are new. */
    void insertNew(Connection connection, List<OutboxEvent> events) throws SQLException {
        Set<UUID> known = insert(connection, events);
        if (!known.isEmpty()) {
            throw new StoreException("The outbox has events already under ids that should be new: " + known, null);
        }
    }

    abstract LowWaterMark advance(Connection connection, TransactionLimits limits, LowWaterMark mark)
            throws SQLException;

    abstract List<OutboxRow> claim(
            Connection connection,
            TransactionLimits limits,
            String owner,
            long token,
            Duration lease,
            OutboxQuery query)
            throws SQLException;

    /** Runs an update after the transaction's limits, where the dialect has them, and returns its count. */
    abstract int update(Connection connection, TransactionLimits limits, String statement, Binding binding)
            throws SQLException;

    /** Runs a query after the transaction's limits, where the dialect has them. */
    abstract <T> T query(
            Connection connection, TransactionLimits limits, String statement, Binding binding, Reading<T> reading)
            throws SQLException;

    /** Binds parameters from the given index on. */
    @FunctionalInterface
    interface Binding {
        void bind(PreparedStatement statement, int first) throws SQLException;
    }

    /** Reads a result. */
    @FunctionalInterface
    interface Reading<T> {
        T read(ResultSet rows) throws SQLException;
    }

    /**
     * Refuses ids that are in the outbox for another event: to pass over such an event would lose it.
     *
     * @return how many of the known ids were found; one that a relay has published and deleted meanwhile is not
     * @throws StoreException if there is one
     */
    int checkSame(Connection connection, List<OutboxEvent> events, Set<UUID> known) throws SQLException {
        Map<UUID, OutboxEvent> given = new HashMap<>();
        for (OutboxEvent event : events) {
            UUID id = event.eventId().orElseThrow();
            if (known.contains(id)) {
                given.put(id, event);
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(sql.find())) {
            statement.setArray(1, connection.createArrayOf("uuid", known.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                int found = 0;
                while (rows.next()) {
                    found++;
                    UUID id = rows.getObject("event_id", UUID.class);
                    OutboxEvent event = given.get(id);
                    if (event != null && !isSame(event, rows)) {
                        throw new StoreException(
                                "The event " + id + " for " + event.topic()
                                        + " was to be appended, but the outbox holds another event under this id: give each"
                                        + " event an id of its own",
                                null);
                    }
                }
                return found;
            }
        }
    }

    private static boolean isSame(OutboxEvent event, ResultSet rows) throws SQLException {
        return event.topic().equals(rows.getString("topic"))
                && Arrays.equals(event.key().orElse(null), rows.getBytes("msg_key"))
                && Arrays.equals(event.payload().orElse(null), rows.getBytes("payload"));
    }

    List<OutboxRow> lock(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        return query(
                connection,
                limits,
                sql.lock(),
                (statement, first) ->
                        statement.setLong(bindQuery(connection, statement, first, query), query.mostBytes()),
                OutboxRowReader::readRows);
    }

    /** Binds where the page begins, the topics to leave out and the limit of rows, and returns the next index. */
    int bindQuery(Connection connection, PreparedStatement statement, int first, OutboxQuery query)
            throws SQLException {
        statement.setLong(first, query.fromSequence());
        statement.setArray(
                first + 1,
                connection.createArrayOf("varchar", query.withoutTopics().toArray()));
        statement.setInt(first + 2, query.limit());
        return first + 3;
    }

    int mark(Connection connection, TransactionLimits limits, String statement, List<OutboxRowId> ids, long token)
            throws SQLException {
        return update(connection, limits, statement, (prepared, first) -> {
            bindIds(connection, prepared, first, ids);
            prepared.setLong(first + 2, token);
        });
    }

    int markJoined(Connection connection, TransactionLimits limits, String statement, List<OutboxRowId> ids)
            throws SQLException {
        return update(connection, limits, statement, (prepared, first) -> bindIds(connection, prepared, first, ids));
    }

    /** Writes to rows that this transaction has just found and locked, so that their numbers are enough. */
    int markLocked(Connection connection, TransactionLimits limits, String statement, List<Long> sequences)
            throws SQLException {
        return update(
                connection,
                limits,
                statement,
                (prepared, first) -> bindSequences(connection, prepared, first, sequences));
    }

    int markLeased(
            Connection connection,
            TransactionLimits limits,
            String statement,
            List<OutboxRowId> ids,
            String owner,
            Collection<BucketLease> leases)
            throws SQLException {
        return update(connection, limits, statement, (prepared, first) -> {
            bindIds(connection, prepared, first, ids);
            bindLeases(connection, prepared, first + 2, owner, leases);
        });
    }

    /** Writes one failure per row, in the order of the rows, so that two relays lock them in the same order. */
    int fail(
            Connection connection,
            TransactionLimits limits,
            String statement,
            List<OutboxFailure> failures,
            Binding fence)
            throws SQLException {
        List<OutboxFailure> sorted = new ArrayList<>(failures);
        sorted.sort(Comparator.comparingLong(failure -> failure.row().sequence()));
        int marked = 0;
        for (OutboxFailure failure : sorted) {
            marked += update(connection, limits, statement, (prepared, first) -> {
                prepared.setBoolean(first, failure.dead());
                prepared.setLong(first + 1, failure.retryAfter().toMillis());
                prepared.setBoolean(first + 2, failure.dead());
                prepared.setString(first + 3, failure.error());
                prepared.setLong(first + 4, failure.row().sequence());
                prepared.setObject(first + 5, failure.row().eventId());
                fence.bind(prepared, first + 6);
            });
        }
        return marked;
    }

    List<Long> lockExpired(Connection connection, TransactionLimits limits, int limit) throws SQLException {
        return query(
                connection, limits, sql.lockExpired(), (statement, first) -> statement.setInt(first, limit), rows -> {
                    List<Long> sequences = new ArrayList<>();
                    while (rows.next()) {
                        sequences.add(rows.getLong(1));
                    }
                    return sequences;
                });
    }

    int deletePublished(Connection connection, TransactionLimits limits, Duration age, int limit) throws SQLException {
        return update(connection, limits, sql.deletePublished(), (statement, first) -> {
            statement.setLong(first, age.toMillis());
            statement.setInt(first + 1, limit);
        });
    }

    int announce(Connection connection, TransactionLimits limits, String owner, Duration lease) throws SQLException {
        update(connection, limits, sql.announce(), (statement, first) -> {
            statement.setString(first, owner);
            statement.setLong(first + 1, lease.toMillis());
        });
        try (PreparedStatement statement = connection.prepareStatement(sql.countRelays());
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getInt(1);
        }
    }

    void withdraw(Connection connection, TransactionLimits limits, String owner) throws SQLException {
        update(connection, limits, sql.withdrawLeases(), (statement, first) -> statement.setString(first, owner));
        try (PreparedStatement statement = connection.prepareStatement(sql.withdrawRelay())) {
            statement.setString(1, owner);
            statement.executeUpdate();
        }
    }

    List<BucketLease> acquire(Connection connection, TransactionLimits limits, String owner, Duration lease, int most)
            throws SQLException {
        List<BucketLease> free = query(
                connection,
                limits,
                sql.lockFreeLeases(),
                (statement, first) -> statement.setInt(first, most),
                OutboxRows::readLeases);
        try (PreparedStatement statement = connection.prepareStatement(sql.acquire())) {
            for (BucketLease range : free) {
                statement.setString(1, owner);
                statement.setLong(2, lease.toMillis());
                statement.setInt(3, range.slot());
                statement.executeUpdate();
            }
        }
        return free;
    }

    private static List<BucketLease> readLeases(ResultSet rows) throws SQLException {
        List<BucketLease> leases = new ArrayList<>();
        while (rows.next()) {
            leases.add(new BucketLease(
                    rows.getInt("slot"),
                    rows.getInt("first_bucket"),
                    rows.getInt("last_bucket"),
                    // Taking it raises the epoch by one; the row is locked, so nobody else does.
                    rows.getLong("epoch") + 1));
        }
        return leases;
    }

    List<BucketLease> extend(
            Connection connection,
            TransactionLimits limits,
            String owner,
            Collection<BucketLease> leases,
            Duration lease)
            throws SQLException {
        List<BucketLease> extended = new ArrayList<>();
        for (BucketLease range : sorted(leases)) {
            int rows = update(connection, limits, sql.extend(), (statement, first) -> {
                statement.setLong(first, lease.toMillis());
                bindLease(statement, first + 1, owner, range);
            });
            if (rows == 1) {
                extended.add(range);
            }
        }
        return extended;
    }

    int release(Connection connection, TransactionLimits limits, String owner, Collection<BucketLease> leases)
            throws SQLException {
        int released = 0;
        for (BucketLease range : sorted(leases)) {
            released += update(
                    connection, limits, sql.release(), (statement, first) -> bindLease(statement, first, owner, range));
        }
        return released;
    }

    private static void bindLease(PreparedStatement statement, int first, String owner, BucketLease lease)
            throws SQLException {
        statement.setString(first, owner);
        statement.setInt(first + 1, lease.slot());
        statement.setLong(first + 2, lease.epoch());
    }

    static List<BucketLease> sorted(Collection<BucketLease> leases) {
        return leases.stream()
                .sorted(Comparator.comparingInt(BucketLease::slot))
                .toList();
    }

    List<OutboxRow> read(
            Connection connection, TransactionLimits limits, Collection<BucketLease> leases, OutboxQuery query)
            throws SQLException {
        List<int[]> ranges = ranges(leases);
        return query(
                connection,
                limits,
                sql.read(ranges.size(), !query.heldKeys().isEmpty()),
                (statement, first) -> {
                    int next = first;
                    for (int[] range : ranges) {
                        statement.setLong(next, query.fromSequence());
                        statement.setInt(next + 1, range[0]);
                        statement.setInt(next + 2, range[1]);
                        statement.setArray(
                                next + 3,
                                connection.createArrayOf(
                                        "varchar", query.withoutTopics().toArray()));
                        next = bindHeldKeys(connection, statement, next + 4, query.heldKeys());
                        statement.setInt(next++, query.limit());
                    }
                    statement.setLong(next, query.mostBytes());
                    statement.setInt(next + 1, query.limit());
                },
                OutboxRowReader::readRows);
    }

    private int bindHeldKeys(Connection connection, PreparedStatement statement, int first, HeldKeys held)
            throws SQLException {
        if (held.isEmpty()) {
            return first;
        }
        byte[][] keys = held.keys().stream()
                .map(ByteBuffer::duplicate)
                .map(key -> {
                    byte[] bytes = new byte[key.remaining()];
                    key.get(bytes);
                    return bytes;
                })
                .toArray(byte[][]::new);
        statement.setArray(
                first, connection.createArrayOf("bigint", held.heads().toArray()));
        statement.setArray(first + 1, connection.createArrayOf(sql.binaryType(), keys));
        statement.setArray(
                first + 2,
                connection.createArrayOf("varchar", held.orderingKeys().toArray()));
        return first + 3;
    }

    /** Joins neighbours, so that whoever holds everything needs one scan. */
    private static List<int[]> ranges(Collection<BucketLease> leases) {
        List<int[]> ranges = new ArrayList<>();
        for (BucketLease lease : sorted(leases)) {
            int[] last = ranges.isEmpty() ? null : ranges.get(ranges.size() - 1);
            if (last != null && last[1] + 1 == lease.firstBucket()) {
                last[1] = lease.lastBucket();
            } else {
                ranges.add(new int[] {lease.firstBucket(), lease.lastBucket()});
            }
        }
        return ranges;
    }

    void bindLeases(
            Connection connection, PreparedStatement statement, int first, String owner, Collection<BucketLease> leases)
            throws SQLException {
        statement.setArray(
                first,
                connection.createArrayOf(
                        "smallint",
                        leases.stream().map(lease -> (short) lease.slot()).toArray()));
        statement.setArray(
                first + 1,
                connection.createArrayOf(
                        "bigint", leases.stream().map(BucketLease::epoch).toArray()));
        statement.setString(first + 2, owner);
    }

    /** Both in the order of the numbers, so that two relays lock the rows in the same order. */
    private static void bindIds(Connection connection, PreparedStatement statement, int first, List<OutboxRowId> ids)
            throws SQLException {
        List<OutboxRowId> sorted = ids.stream()
                .sorted(Comparator.comparingLong(OutboxRowId::sequence))
                .toList();
        statement.setArray(
                first,
                connection.createArrayOf(
                        "bigint", sorted.stream().map(OutboxRowId::sequence).toArray()));
        statement.setArray(
                first + 1,
                connection.createArrayOf(
                        "uuid", sorted.stream().map(OutboxRowId::eventId).toArray()));
    }

    private static void bindSequences(
            Connection connection, PreparedStatement statement, int index, List<Long> sequences) throws SQLException {
        statement.setArray(
                index,
                connection.createArrayOf("bigint", sequences.stream().sorted().toArray()));
    }
}
