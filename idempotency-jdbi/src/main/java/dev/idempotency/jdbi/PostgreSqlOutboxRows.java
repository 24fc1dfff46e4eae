package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The outbox on PostgreSQL. */
final class PostgreSqlOutboxRows extends OutboxRows {
    private final PostgreSqlOutboxSql sql;

    PostgreSqlOutboxRows(PostgreSqlOutboxSql sql) {
        super(sql);
        this.sql = sql;
    }

    @Override
    Set<UUID> insert(Connection connection, List<OutboxEvent> events) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.append())) {
            bind(connection, statement, events);
            Set<UUID> missing = new HashSet<>();
            events.forEach(event -> missing.add(event.eventId().orElseThrow()));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    missing.remove(rows.getObject(1, UUID.class));
                }
            }
            return missing;
        }
    }

    @Override
    void insertNew(Connection connection, List<OutboxEvent> events) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.appendNew())) {
            bind(connection, statement, events);
            statement.executeUpdate();
        }
    }

    private static void bind(Connection connection, PreparedStatement statement, List<OutboxEvent> events)
            throws SQLException {
        Columns columns = new Columns(connection, statement, events);
        columns.bind("uuid", event -> event.eventId().orElseThrow());
        columns.bind("smallint", event -> (short) event.bucket());
        columns.bind("varchar", OutboxEvent::topic);
        columns.bind(
                "integer",
                event -> event.partition().isPresent() ? event.partition().getAsInt() : null);
        columns.bindBytes(event -> event.key().orElse(null));
        columns.bindBytes(event -> event.payload().orElse(null));
        columns.bind("text", event -> HeaderText.encode(event.headers()));
        columns.bind("varchar", event -> event.orderingKey().orElse(null));
        columns.bind("varchar", event -> event.type().orElse(null));
        columns.bind("varchar", event -> event.tenant().orElse(null));
        columns.bind("bigint", event -> millisRoundedUp(event.delay()));
    }

    static long millisRoundedUp(Duration duration) {
        return duration.plusNanos(999_999).toMillis();
    }

    /** Binds one array per column, one element per event. */
    private static final class Columns {
        private final Connection connection;
        private final PreparedStatement statement;
        private final List<OutboxEvent> events;
        private int next = 1;

        Columns(Connection connection, PreparedStatement statement, List<OutboxEvent> events) {
            this.connection = connection;
            this.statement = statement;
            this.events = events;
        }

        void bind(String type, Function<OutboxEvent, @Nullable Object> value) throws SQLException {
            statement.setArray(
                    next++,
                    connection.createArrayOf(type, events.stream().map(value).toArray()));
        }

        /** The driver asks for an array of arrays here. */
        void bindBytes(Function<OutboxEvent, byte @Nullable []> value) throws SQLException {
            byte[][] column = events.stream().map(value).toArray(byte[][]::new);
            statement.setArray(next++, connection.createArrayOf("bytea", column));
        }
    }

    @Override
    LowWaterMark advance(Connection connection, TransactionLimits limits, LowWaterMark mark) throws SQLException {
        Horizon horizon = query(
                connection,
                limits,
                sql.lookAtHorizon(),
                (statement, first) -> statement.setLong(first, mark.firstLive()),
                PostgreSqlOutboxRows::readHorizon);
        boolean passed = mark.candidate() > 0 && horizon.oldestRunning() > mark.fence();
        long visibleBelow = passed ? Math.max(mark.visibleBelow(), mark.candidate()) : mark.visibleBelow();
        long firstLive = Math.max(mark.firstLive(), Math.min(horizon.firstLive(), visibleBelow));
        if (mark.candidate() > 0 && !passed) {
            return new LowWaterMark(firstLive, visibleBelow, mark.candidate(), mark.fence());
        }
        if (horizon.lastDrawn() < visibleBelow) {
            return new LowWaterMark(firstLive, visibleBelow, 0, 0);
        }
        // After the look, never before or with it: only so is the fence above every append that drew a smaller number.
        return new LowWaterMark(firstLive, visibleBelow, horizon.lastDrawn() + 1, ownTransactionId(connection));
    }

    private long ownTransactionId(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.ownTransactionId());
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static Horizon readHorizon(ResultSet rows) throws SQLException {
        rows.next();
        long firstLive = rows.getLong("first_live");
        boolean nothingLive = rows.wasNull();
        return new Horizon(
                rows.getLong("oldest_running"), rows.getLong("last_drawn"), nothingLive ? Long.MAX_VALUE : firstLive);
    }

    private record Horizon(long oldestRunning, long lastDrawn, long firstLive) {}

    @Override
    List<OutboxRow> claim(
            Connection connection,
            TransactionLimits limits,
            String owner,
            long token,
            Duration lease,
            OutboxQuery query)
            throws SQLException {
        return query(
                connection,
                limits,
                sql.claimAtOnce(),
                (statement, first) -> {
                    int next = bindQuery(connection, statement, first, query);
                    statement.setString(next, owner);
                    statement.setLong(next + 1, token);
                    statement.setLong(next + 2, lease.toMillis());
                    statement.setLong(next + 3, query.mostBytes());
                },
                OutboxRowReader::readRows);
    }

    @Override
    int announce(Connection connection, TransactionLimits limits, String owner, Duration lease) throws SQLException {
        return query(
                connection,
                limits,
                sql.announceAndCount(),
                (statement, first) -> {
                    statement.setString(first, owner);
                    statement.setLong(first + 1, lease.toMillis());
                    statement.setString(first + 2, owner);
                },
                rows -> {
                    rows.next();
                    return rows.getInt(1);
                });
    }

    /** All ranges in one statement, because this is what an idle relay does every few seconds. */
    @Override
    List<BucketLease> extend(
            Connection connection,
            TransactionLimits limits,
            String owner,
            Collection<BucketLease> leases,
            Duration lease)
            throws SQLException {
        return query(
                connection,
                limits,
                sql.extendAll(),
                (statement, first) -> {
                    statement.setLong(first, lease.toMillis());
                    bindLeases(connection, statement, first + 1, owner, leases);
                },
                rows -> {
                    Set<Integer> slots = new HashSet<>();
                    while (rows.next()) {
                        slots.add(rows.getInt(1));
                    }
                    return sorted(leases).stream()
                            .filter(range -> slots.contains(range.slot()))
                            .toList();
                });
    }

    @Override
    int update(Connection connection, TransactionLimits limits, String statement, Binding binding) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql.limited(statement))) {
            binding.bind(prepared, sql.limits().bind(prepared, 1, limits));
            prepared.execute();
            prepared.getMoreResults();
            return prepared.getUpdateCount();
        }
    }

    @Override
    <T> T query(Connection connection, TransactionLimits limits, String statement, Binding binding, Reading<T> reading)
            throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql.limited(statement))) {
            binding.bind(prepared, sql.limits().bind(prepared, 1, limits));
            prepared.execute();
            prepared.getMoreResults();
            try (ResultSet rows = prepared.getResultSet()) {
                return reading.read(rows);
            }
        }
    }
}
