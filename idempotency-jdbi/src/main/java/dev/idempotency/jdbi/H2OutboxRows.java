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

    /** H2 bounds every wait for a lock by itself; the database's own LOCK_TIMEOUT is in force. */
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
