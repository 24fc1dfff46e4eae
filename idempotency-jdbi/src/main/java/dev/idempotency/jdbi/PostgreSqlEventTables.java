package dev.idempotency.jdbi;

import dev.idempotency.EventId;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** Events on PostgreSQL: one round trip marks any number of them. */
final class PostgreSqlEventTables extends EventTables {
    /** No page of 8 KiB holds more rows of any table (the server's MaxHeapTuplesPerPage). */
    private static final int MOST_ROWS_OF_A_PAGE = 291;

    private final PostgreSqlEventSql sql;

    /** Where the clean-up goes on in each table: it must not read again and again what it has just emptied. */
    private final Map<String, Long> nextPages = new ConcurrentHashMap<>();

    PostgreSqlEventTables(PostgreSqlEventSql sql) {
        super(sql);
        this.sql = sql;
    }

    @Override
    Object name(String name) {
        return name;
    }

    @Override
    Marks markFirst(Connection connection, TransactionLimits limits, int consumer, Map<UUID, EventId> ids)
            throws SQLException {
        Autosave.refuseAlways(connection);
        try (PreparedStatement statement = connection.prepareStatement(sql.markFirst())) {
            int index = sql.limits().bind(statement, 1, limits);
            bindMarks(connection, statement, index, consumer, ids);
            statement.execute();
            String started;
            try (ResultSet rows = statement.getResultSet()) {
                rows.next();
                started = rows.getString("started_micros");
            }
            statement.getMoreResults();
            try (ResultSet rows = statement.getResultSet()) {
                return new Marks(events(rows, ids), started);
            }
        }
    }

    @Override
    Set<EventId> mark(Connection connection, int consumer, Map<UUID, EventId> ids) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.mark())) {
            bindMarks(connection, statement, 1, consumer, ids);
            try (ResultSet rows = statement.executeQuery()) {
                return events(rows, ids);
            }
        }
    }

    private static void bindMarks(
            Connection connection, PreparedStatement statement, int index, int consumer, Map<UUID, EventId> ids)
            throws SQLException {
        statement.setInt(index, consumer);
        statement.setArray(
                index + 1, connection.createArrayOf("uuid", ids.keySet().toArray()));
    }

    @Override
    boolean isProven(Connection connection, String proof) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.confirm())) {
            statement.setLong(1, Long.parseLong(proof));
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
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
        Map<EventPartition, EventPartition> asked = new HashMap<>();
        partitions.forEach(partition -> asked.put(partition, partition));
        try (PreparedStatement statement = connection.prepareStatement(sql.assign())) {
            int index = sql.limits().bind(statement, 1, limits);
            statement.setInt(index, consumer);
            statement.setString(index + 1, owner);
            statement.setArray(
                    index + 2,
                    connection.createArrayOf(
                            "uuid",
                            partitions.stream().map(EventPartition::topicId).toArray()));
            statement.setArray(
                    index + 3,
                    connection.createArrayOf(
                            "int4",
                            partitions.stream().map(EventPartition::number).toArray()));
            statement.setArray(
                    index + 4,
                    connection.createArrayOf(
                            "text",
                            partitions.stream().map(EventPartition::topic).toArray()));
            statement.execute();
            statement.getMoreResults();
            try (ResultSet rows = statement.getResultSet()) {
                List<PartitionAssignment> assignments = new ArrayList<>();
                while (rows.next()) {
                    EventPartition key = new EventPartition(
                            "?", rows.getObject("topic_id", UUID.class), rows.getInt("partition_number"));
                    assignments.add(assignment(rows, asked.getOrDefault(key, key)));
                }
                return assignments;
            }
        }
    }

    @Override
    int deleteMarks(StoreDatabase database, TransactionLimits limits, Duration age, int limit) {
        Map<String, Long> pages = pages(database, limits);
        nextPages.keySet().retainAll(pages.keySet());
        int deleted = 0;
        for (Map.Entry<String, Long> table : pages.entrySet()) {
            if (deleted < limit) {
                deleted += deleteMarks(database, limits, age, limit - deleted, table.getKey(), table.getValue());
            }
        }
        return deleted;
    }

    private Map<String, Long> pages(StoreDatabase database, TransactionLimits limits) {
        return database.inOwnTransaction("The look at the table of marks", limits, (transaction, connection) -> {
            Map<String, Long> pages = new LinkedHashMap<>();
            try (PreparedStatement statement = connection.prepareStatement(sql.markTables());
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    pages.put(rows.getString(1), rows.getLong(2));
                }
            }
            return pages;
        });
    }

    private int deleteMarks(
            StoreDatabase database, TransactionLimits limits, Duration age, int limit, String table, long pages) {
        long page = nextPages.getOrDefault(table, 0L);
        int deleted = 0;
        while (deleted < limit && page < pages) {
            int left = limit - deleted;
            long end = page + Math.max(1, left / MOST_ROWS_OF_A_PAGE);
            int found = deleteMarks(database, limits, age, left, table, page, end);
            deleted += found;
            if (found < left) {
                page = end;
            }
        }
        nextPages.put(table, page < pages ? page : 0);
        return deleted;
    }

    private int deleteMarks(
            StoreDatabase database,
            TransactionLimits limits,
            Duration age,
            int limit,
            String table,
            long page,
            long end) {
        return database.inOwnTransaction("The deletion of old marks", limits, (transaction, connection) -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.deleteMarks(table))) {
                int index = sql.limits().bind(statement, 1, limits);
                statement.setLong(index, page);
                statement.setLong(index + 1, end);
                statement.setLong(index + 2, age.toNanos() / 1000);
                statement.setInt(index + 3, limit);
                statement.execute();
                statement.getMoreResults();
                return statement.getUpdateCount();
            }
        });
    }
}
