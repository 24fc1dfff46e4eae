package dev.idempotency.jdbi;

import dev.idempotency.EventId;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** Events on H2, where the runner has put the limits in force for the session. */
final class H2EventTables extends EventTables {
    private final H2EventSql sql;

    H2EventTables(H2EventSql sql) {
        super(sql);
        this.sql = sql;
    }

    @Override
    Object name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** The proof is the transaction's id; a transaction that has marked nothing has to write to get one. */
    @Override
    Marks markFirst(Connection connection, TransactionLimits limits, int consumer, Map<UUID, EventId> ids)
            throws SQLException {
        Set<EventId> fresh = mark(connection, consumer, ids);
        if (fresh.isEmpty()) {
            UUID nobody = UUID.randomUUID();
            insertMark(connection, consumer, nobody);
            execute(connection, sql.unmark(), consumer, nobody);
        }
        try (PreparedStatement statement = connection.prepareStatement(sql.transactionId());
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return new Marks(fresh, rows.getString(1));
        }
    }

    @Override
    Set<EventId> mark(Connection connection, int consumer, Map<UUID, EventId> ids) throws SQLException {
        Set<UUID> missing = new TreeSet<>(ids.keySet());
        missing.removeAll(present(connection, consumer, missing));
        Set<EventId> fresh = new HashSet<>();
        for (UUID id : missing) {
            EventId event = ids.get(id);
            if (event != null && insertMark(connection, consumer, id)) {
                fresh.add(event);
            }
        }
        return fresh;
    }

    private Set<UUID> present(Connection connection, int consumer, Set<UUID> ids) throws SQLException {
        Set<UUID> present = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.findMarks())) {
            statement.setInt(1, consumer);
            statement.setArray(2, connection.createArrayOf("UUID", ids.toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    present.add(rows.getObject(1, UUID.class));
                }
            }
        }
        return present;
    }

    /** A mark that another transaction has committed since we looked is a duplicate; H2 undoes the statement alone. */
    private boolean insertMark(Connection connection, int consumer, UUID id) throws SQLException {
        try {
            execute(connection, sql.mark(), consumer, id);
            return true;
        } catch (SQLException e) {
            if (SqlErrors.isDuplicateKey(e)) {
                return false;
            }
            throw e;
        }
    }

    private static void execute(Connection connection, String command, int consumer, UUID id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(command)) {
            statement.setInt(1, consumer);
            statement.setObject(2, id);
            statement.executeUpdate();
        }
    }

    @Override
    boolean isProven(Connection connection, String proof) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.transactionId());
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return proof.equals(rows.getString(1));
        }
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
        if (bumpEpoch(connection, consumer, partition, owner)) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(sql.beginFirstEpoch())) {
            bindOwner(statement, consumer, partition, owner);
            statement.setString(5, partition.topic());
            statement.executeUpdate();
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e) || !bumpEpoch(connection, consumer, partition, owner)) {
                throw e;
            }
        }
    }

    private boolean bumpEpoch(Connection connection, int consumer, EventPartition partition, String owner)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.beginEpoch())) {
            bindOwner(statement, consumer, partition, owner);
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    int deleteMarks(StoreDatabase database, TransactionLimits limits, Duration age, int limit) {
        return database.inOwnTransaction("The deletion of old marks", limits, (transaction, connection) -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.deleteMarks())) {
                statement.setLong(1, -age.toNanos() / 1000);
                statement.setInt(2, limit);
                return statement.executeUpdate();
            }
        });
    }
}
