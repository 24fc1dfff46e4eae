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
import java.util.List;

/**
 * The outbox on a database whose limits are the session's, put in force by the runner, and that tells nobody which
 * transactions are under way.
 */
abstract class PlainOutboxRows extends OutboxRows {
    private final OutboxSql sql;

    PlainOutboxRows(OutboxSql sql) {
        super(sql);
        this.sql = sql;
    }

    /** Binds id, bucket, topic, partition, key, payload, headers, ordering key, type, tenant, delay twice. */
    static void bind(Parameters parameters, OutboxEvent event) throws SQLException {
        long delay = PostgreSqlOutboxRows.millisRoundedUp(event.delay());
        parameters
                .uuid(event.eventId().orElseThrow())
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

    /** Nothing is ever known to be finished. */
    @Override
    LowWaterMark advance(Connection connection, TransactionLimits limits, LowWaterMark mark) {
        return mark;
    }

    /** Locks the rows to be claimed, in the store's own transaction. */
    List<OutboxRow> lockOwn(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        return lock(connection, limits, query);
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
        List<OutboxRow> rows = lockOwn(connection, limits, query);
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
