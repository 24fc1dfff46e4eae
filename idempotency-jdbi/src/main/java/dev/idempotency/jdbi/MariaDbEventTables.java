package dev.idempotency.jdbi;

import dev.idempotency.EventId;
import dev.idempotency.StoreException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** Events on MariaDB: all ids of a batch in one statement, in one order for all; a savepoint proves the transaction. */
final class MariaDbEventTables extends EventTables {
    private static final Place BEGIN = new Place(new UUID(0, 0), Short.MIN_VALUE);

    /** A statement's text grows with its ids, and packets have a bound. */
    private static final int MOST_IDS_OF_A_STATEMENT = 1_000;

    /** How many marks are looked at for each that may be deleted. */
    private static final int LOOKED_AT = 10;

    private final MariaDbEventSql sql;
    private volatile Place lastLookedAt = BEGIN;

    MariaDbEventTables(MariaDbEventSql sql) {
        super(sql);
        this.sql = sql;
    }

    @Override
    Object name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** The limits stand in the statement: the transaction may be one whose session somebody else has prepared. */
    @Override
    Marks markFirst(Connection connection, TransactionLimits limits, int consumer, Map<UUID, EventId> ids)
            throws SQLException {
        Set<EventId> fresh = new HashSet<>();
        for (List<UUID> part : parts(ids)) {
            fresh.addAll(
                    insert(connection, MariaDbSession.limited(limits, sql.mark(part.size())), consumer, part, ids));
        }
        if (ids.isEmpty()) {
            begin(connection, consumer);
        }
        return new Marks(fresh, MariaDbProof.begin(connection));
    }

    /** Without it the server may see nothing to commit, and the savepoint would outlive what is taken for a transaction. */
    private void begin(Connection connection, int consumer) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.begin())) {
            statement.setInt(1, consumer);
            statement.execute();
        }
    }

    @Override
    Set<EventId> mark(Connection connection, int consumer, Map<UUID, EventId> ids) throws SQLException {
        Set<EventId> fresh = new HashSet<>();
        for (List<UUID> part : parts(ids)) {
            fresh.addAll(insert(connection, sql.mark(part.size()), consumer, part, ids));
        }
        return fresh;
    }

    private static List<List<UUID>> parts(Map<UUID, EventId> ids) {
        List<UUID> sorted = new ArrayList<>(new TreeSet<>(ids.keySet()));
        List<List<UUID>> parts = new ArrayList<>();
        for (int from = 0; from < sorted.size(); from += MOST_IDS_OF_A_STATEMENT) {
            parts.add(sorted.subList(from, Math.min(sorted.size(), from + MOST_IDS_OF_A_STATEMENT)));
        }
        return parts;
    }

    private Set<EventId> insert(
            Connection connection, String command, int consumer, List<UUID> part, Map<UUID, EventId> ids)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(command)) {
            int index = 1;
            for (UUID id : part) {
                statement.setInt(index, consumer);
                statement.setObject(index + 1, id);
                index += 2;
            }
            try (ResultSet rows = statement.executeQuery()) {
                Set<UUID> passedOver = new TreeSet<>(part);
                Set<EventId> fresh = new HashSet<>();
                while (rows.next()) {
                    UUID id = rows.getObject(1, UUID.class);
                    passedOver.remove(id);
                    fresh.add(Objects.requireNonNull(ids.get(id)));
                }
                if (!passedOver.isEmpty()) {
                    checkMarked(connection, consumer, passedOver);
                }
                return fresh;
            }
        }
    }

    /**
     * INSERT IGNORE passes over rows for other reasons too, a missing partition for instance. Without a mark, an event that
     * was passed over would be taken for processed, and lost.
     */
    private void checkMarked(Connection connection, int consumer, Set<UUID> passedOver) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.countMarks())) {
            statement.setInt(1, consumer);
            statement.setArray(2, connection.createArrayOf("uuid", passedOver.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                if (rows.getInt(1) != passedOver.size()) {
                    throw new StoreException(
                            "The server passed over " + (passedOver.size() - rows.getInt(1)) + " of the marks of "
                                    + passedOver.size() + " events, although they are not there: see its warnings, and"
                                    + " whether the table of marks has a partition for them",
                            null);
                }
            }
        }
    }

    @Override
    boolean isProven(Connection connection, String proof) throws SQLException {
        return MariaDbProof.holds(connection, proof);
    }

    /** The updates cannot ask for the proof themselves, so it is asked for after them. */
    @Override
    Set<EventPartition> advance(Connection connection, Marks marks, int consumer, List<OffsetAdvance> advances)
            throws SQLException {
        Set<EventPartition> fenced = super.advance(connection, marks, consumer, advances);
        confirm(connection, marks);
        return fenced;
    }

    @Override
    List<PartitionAssignment> assign(
            Connection connection,
            TransactionLimits limits,
            int consumer,
            List<EventPartition> partitions,
            String owner)
            throws SQLException {
        return assignOneByOne(
                connection, consumer, partitions, partition -> beginEpoch(connection, consumer, partition, owner));
    }

    private void beginEpoch(Connection connection, int consumer, EventPartition partition, String owner)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.beginEpoch())) {
            bindOwner(statement, consumer, partition, owner);
            statement.setString(5, partition.topic());
            statement.executeUpdate();
        }
    }

    /**
     * Walks through the table in the order of its primary key, some way in each call, and begins anew after its end: old
     * marks have no index of their own, because every mark would pay for it.
     */
    @Override
    int deleteMarks(StoreDatabase database, TransactionLimits limits, Duration age, int limit) {
        long micros = age.toNanos() / 1000;
        int deleted = 0;
        boolean more = true;
        while (more && deleted < limit) {
            int most = Math.min(limit - deleted, MOST_IDS_OF_A_STATEMENT);
            Step step = database.inOwnTransaction(
                    "The deletion of old marks",
                    limits,
                    (transaction, connection) -> deleteStep(connection, lastLookedAt, micros, most));
            lastLookedAt = step.last();
            deleted += step.deleted();
            more = !step.last().equals(BEGIN);
        }
        return deleted;
    }

    /** A row's place in the order of the primary key. */
    private record Place(UUID event, int consumer) {}

    private record Step(Place last, int deleted) {}

    private Step deleteStep(Connection connection, Place after, long ageMicros, int most) throws SQLException {
        int lookedAt = most * LOOKED_AT;
        Place last = after;
        int rows = 0;
        int found = 0;
        try (PreparedStatement look = connection.prepareStatement(sql.findMarksAfter());
                PreparedStatement delete = connection.prepareStatement(sql.deleteMark())) {
            look.setLong(1, ageMicros);
            look.setObject(2, after.event());
            look.setObject(3, after.event());
            look.setInt(4, after.consumer());
            look.setInt(5, lookedAt);
            try (ResultSet marks = look.executeQuery()) {
                while (found < most && marks.next()) {
                    rows++;
                    last = new Place(marks.getObject("event_id", UUID.class), marks.getInt("consumer_id"));
                    if (marks.getBoolean("is_old")) {
                        delete.setObject(1, last.event());
                        delete.setInt(2, last.consumer());
                        delete.setLong(3, ageMicros);
                        delete.addBatch();
                        found++;
                    }
                }
            }
            int deleted = 0;
            if (found > 0) {
                for (int count : delete.executeBatch()) {
                    deleted += count;
                }
            }
            boolean atTheEnd = rows < lookedAt && found < most;
            return new Step(atTheEnd ? BEGIN : last, deleted);
        }
    }
}
