package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The outbox on H2. */
final class H2OutboxRows extends OutboxRows {
    private final H2OutboxSql sql;

    H2OutboxRows(H2OutboxSql sql) {
        super(sql);
        this.sql = sql;
    }

    /** H2 has no statement that passes over a duplicate and says so: a failed one changes nothing here. */
    @Override
    Set<UUID> insert(Connection connection, List<OutboxEvent> events) throws SQLException {
        Set<UUID> known = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.append())) {
            for (OutboxEvent event : events) {
                bind(statement, event);
                try {
                    statement.executeUpdate();
                } catch (SQLException e) {
                    if (!SqlErrors.isDuplicateKey(e)) {
                        throw e;
                    }
                    known.add(event.eventId().orElseThrow());
                }
            }
        }
        return known;
    }

    private static void bind(PreparedStatement statement, OutboxEvent event) throws SQLException {
        statement.setObject(1, event.eventId().orElseThrow());
        long delay = PostgreSqlOutboxRows.millisRoundedUp(event.delay());
        Parameters.from(statement, 2)
                .integer(event.bucket())
                .text(event.topic())
                .integer(event.partition().isPresent() ? event.partition().getAsInt() : null)
                .bytes(event.key().orElse(null))
                .bytes(event.payload().orElse(null))
                .text(HeaderText.encode(event.headers()))
                .text(event.orderingKey().orElse(null))
                .text(event.type().orElse(null))
                .text(event.tenant().orElse(null))
                .bigint(delay)
                .bigint(delay);
    }

    /** H2 does not tell which transactions are under way, so nothing is ever known to be finished. */
    @Override
    LowWaterMark advance(Connection connection, TransactionLimits limits, LowWaterMark mark) {
        return mark;
    }

    /** H2 locks all rows that it has to sort, those beyond the limit as well; so the rows are chosen first, then locked. */
    @Override
    List<OutboxRow> lock(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        List<OutboxRow> locked = new ArrayList<>();
        OutboxQuery page = query;
        while (true) {
            Free free = findFree(connection, limits, page);
            if (free.sequences().isEmpty()) {
                return locked;
            }
            List<OutboxRow> rows = query(
                    connection,
                    limits,
                    sql.lockFree(),
                    (statement, first) -> statement.setArray(
                            first,
                            connection.createArrayOf("bigint", free.sequences().toArray())),
                    this::readRows);
            locked.addAll(rows);
            long bytesLeft = page.mostBytes() - bytesOf(rows);
            if (free.isLast() || locked.size() == query.limit() || bytesLeft <= 0) {
                return locked;
            }
            long next = free.sequences().get(free.sequences().size() - 1) + 1;
            page = new OutboxQuery(next, query.limit() - locked.size(), bytesLeft, query.withoutTopics());
        }
    }

    private static long bytesOf(List<OutboxRow> rows) {
        return rows.stream()
                .mapToLong(row ->
                        row.event().payload().map(payload -> payload.length).orElse(0))
                .sum();
    }

    /** Rows found free; the last if there are no more behind them. */
    private record Free(List<Long> sequences, boolean isLast) {}

    private Free findFree(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        return query(
                connection,
                limits,
                sql.findFree(),
                (statement, first) -> bindQuery(connection, statement, first, query),
                rows -> {
                    List<Long> free = new ArrayList<>();
                    long bytes = 0;
                    while (bytes < query.mostBytes() && rows.next()) {
                        free.add(rows.getLong(1));
                        bytes += rows.getLong(2);
                    }
                    return new Free(free, free.size() < query.limit() && bytes < query.mostBytes());
                });
    }

    @Override
    List<OutboxRow> claim(
            Connection connection,
            TransactionLimits limits,
            String owner,
            long token,
            Duration lease,
            OutboxQuery query)
            throws SQLException {
        List<OutboxRow> rows = lock(connection, limits, query);
        if (!rows.isEmpty()) {
            update(connection, limits, sql.claim(), (statement, first) -> {
                statement.setString(first, owner);
                statement.setLong(first + 1, token);
                statement.setLong(first + 2, lease.toMillis());
                statement.setArray(
                        first + 3,
                        connection.createArrayOf(
                                "bigint", rows.stream().map(OutboxRow::sequence).toArray()));
            });
        }
        return rows;
    }

    /** The runner has put the limits in force for the session. */
    @Override
    int update(Connection connection, TransactionLimits limits, String statement, Binding binding) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            binding.bind(prepared, 1);
            return prepared.executeUpdate();
        }
    }

    @Override
    <T> T query(Connection connection, TransactionLimits limits, String statement, Binding binding, Reading<T> reading)
            throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            binding.bind(prepared, 1);
            try (ResultSet rows = prepared.executeQuery()) {
                return reading.read(rows);
            }
        }
    }
}
