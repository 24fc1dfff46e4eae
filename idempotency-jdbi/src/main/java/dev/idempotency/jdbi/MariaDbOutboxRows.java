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

/** The outbox on MariaDB. */
final class MariaDbOutboxRows extends OutboxRows {
    private static final int MOST_EVENTS_OF_A_STATEMENT = 500;

    /** A statement is one packet, whose bound is 16 MiB unless the server is told otherwise; its text doubles some bytes. */
    private static final int MOST_BYTES_OF_A_STATEMENT = 1 << 20;

    private final MariaDbOutboxSql sql;

    MariaDbOutboxRows(MariaDbOutboxSql sql) {
        super(sql);
        this.sql = sql;
    }

    /** Many rows in one statement; one that meets an id that is there fails whole, and its rows are inserted singly. */
    @Override
    Set<UUID> insert(Connection connection, List<OutboxEvent> events) throws SQLException {
        Set<UUID> known = new HashSet<>();
        for (List<OutboxEvent> part : parts(events)) {
            if (!insertAll(connection, part)) {
                for (OutboxEvent event : part) {
                    if (part.size() == 1 || !insertAll(connection, List.of(event))) {
                        known.add(event.eventId().orElseThrow());
                    }
                }
            }
        }
        return known;
    }

    private static List<List<OutboxEvent>> parts(List<OutboxEvent> events) {
        List<List<OutboxEvent>> parts = new ArrayList<>();
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < events.size(); i++) {
            long size = size(events.get(i));
            if (i > from && (bytes + size > MOST_BYTES_OF_A_STATEMENT || i - from == MOST_EVENTS_OF_A_STATEMENT)) {
                parts.add(events.subList(from, i));
                from = i;
                bytes = 0;
            }
            bytes += size;
        }
        if (from < events.size()) {
            parts.add(events.subList(from, events.size()));
        }
        return parts;
    }

    private static long size(OutboxEvent event) {
        long key = event.key().map(bytes -> bytes.length).orElse(0);
        long payload = event.payload().map(bytes -> bytes.length).orElse(0);
        String headers = HeaderText.encode(event.headers());
        return key + payload + (headers == null ? 0 : headers.length());
    }

    /** False if an id is there already; then nothing was inserted. */
    private boolean insertAll(Connection connection, List<OutboxEvent> events) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.append(events.size()))) {
            Parameters parameters = Parameters.of(statement);
            for (OutboxEvent event : events) {
                bind(parameters, event);
            }
            statement.executeUpdate();
            return true;
        } catch (SQLException e) {
            if (SqlErrors.isDuplicateKey(e)) {
                return false;
            }
            throw e;
        }
    }

    private static void bind(Parameters parameters, OutboxEvent event) throws SQLException {
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

    /** MariaDB does not tell which transactions are under way, so nothing is ever known to be finished. */
    @Override
    LowWaterMark advance(Connection connection, TransactionLimits limits, LowWaterMark mark) {
        return mark;
    }

    /** The relay's transaction, whoever began it, must lock rows alone and not the gaps between them. */
    @Override
    List<OutboxRow> lock(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        MariaDbSession.readCommitted(connection);
        return super.lock(connection, limits, query);
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
        List<OutboxRow> rows = super.lock(connection, limits, query);
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
    int deletePublished(Connection connection, TransactionLimits limits, Duration age, int limit) throws SQLException {
        List<Long> old = query(
                connection,
                limits,
                sql.lockOldPublished(),
                (statement, first) -> {
                    statement.setLong(first, age.toMillis());
                    statement.setInt(first + 1, limit);
                },
                rows -> {
                    List<Long> sequences = new ArrayList<>();
                    while (rows.next()) {
                        sequences.add(rows.getLong(1));
                    }
                    return sequences;
                });
        return old.isEmpty() ? 0 : markLocked(connection, limits, sql.deleteLocked(), old);
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
