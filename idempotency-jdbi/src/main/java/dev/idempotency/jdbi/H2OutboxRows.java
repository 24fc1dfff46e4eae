package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The outbox on H2. */
final class H2OutboxRows extends PlainOutboxRows {
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
                bind(Parameters.of(statement), event);
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
                    OutboxRowReader::readRows);
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
}
