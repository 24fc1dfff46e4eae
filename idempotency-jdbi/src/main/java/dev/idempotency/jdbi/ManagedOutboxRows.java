package dev.idempotency.jdbi;

import dev.idempotency.spi.ManagedOutboxStore;
import dev.idempotency.spi.OutboxBacklog;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs the statements of {@link ManagedOutboxSql} on a connection inside a transaction. */
final class ManagedOutboxRows {
    private final ManagedOutboxSql sql;
    private final OutboxSql relaySql;
    private final OutboxRows rows;

    ManagedOutboxRows(OutboxSql relaySql, OutboxRows rows) {
        this.sql = new ManagedOutboxSql(relaySql);
        this.relaySql = relaySql;
        this.rows = rows;
    }

    /** A row that this transaction has locked. */
    private record Locked(UUID eventId, long sequence) {}

    OutboxBacklog backlog(Connection connection, TransactionLimits limits) throws SQLException {
        return rows.query(connection, limits, sql.backlog(), (statement, first) -> {}, result -> {
            result.next();
            long firstLive = result.getLong("first_live");
            if (result.wasNull()) {
                return new OutboxBacklog(0, Duration.ZERO);
            }
            // The three look-ups of one statement see the same rows.
            long atMost = result.getLong("last_live") - firstLive + 1;
            return new OutboxBacklog(atMost, Duration.ofMillis(Math.max(0, result.getLong("age"))));
        });
    }

    List<OutboxEntry> find(
            Connection connection, TransactionLimits limits, OutboxEntry.Status status, OutboxFilter filter, int limit)
            throws SQLException {
        String statement = switch (status) {
            case PENDING, PUBLISHING -> sql.findLive();
            case PUBLISHED -> sql.findPublished();
            case DEAD -> sql.findDead();
        };
        return rows.query(
                connection,
                limits,
                statement,
                (prepared, first) -> {
                    prepared.setString(first, status.name());
                    bindFilter(connection, prepared, first + 1, filter, checked(limit));
                },
                ManagedOutboxRows::readEntries);
    }

    private static int checked(int limit) {
        if (limit < 1 || limit > ManagedOutboxStore.LARGEST_LIMIT) {
            throw new IllegalArgumentException("The limit must be between 1 and 10,000, but is " + limit);
        }
        return limit;
    }

    private static void bindFilter(
            Connection connection, PreparedStatement statement, int first, OutboxFilter filter, int limit)
            throws SQLException {
        statement.setBoolean(first, filter.eventIds().isEmpty());
        statement.setArray(
                first + 1, connection.createArrayOf("uuid", filter.eventIds().toArray()));
        statement.setBoolean(first + 2, filter.topics().isEmpty());
        statement.setArray(
                first + 3, connection.createArrayOf("varchar", filter.topics().toArray()));
        statement.setBoolean(first + 4, filter.tenants().isEmpty());
        statement.setArray(
                first + 5, connection.createArrayOf("varchar", filter.tenants().toArray()));
        statement.setInt(first + 6, limit);
    }

    private static List<OutboxEntry> readEntries(ResultSet result) throws SQLException {
        List<OutboxEntry> entries = new ArrayList<>();
        while (result.next()) {
            entries.add(new OutboxEntry(
                    result.getObject("event_id", UUID.class),
                    result.getLong("seq"),
                    result.getString("topic"),
                    OutboxEntry.Status.valueOf(result.getString("status")),
                    result.getInt("attempts"),
                    result.getInt("crashes"),
                    orEmpty(result.getString("locked_by")),
                    orEmpty(result.getString("last_error")),
                    result.getObject("created_at", OffsetDateTime.class).toInstant()));
        }
        return entries;
    }

    private static String orEmpty(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }

    /** Row by row, in the order of the old numbers: the new ones keep it. */
    int requeue(Connection connection, TransactionLimits limits, OutboxFilter filter, int limit) throws SQLException {
        int requeued = 0;
        for (Locked row : lock(connection, limits, sql.lockDead(), filter, limit)) {
            requeued += rows.update(
                    connection, limits, sql.requeue(), (statement, first) -> statement.setObject(first, row.eventId()));
        }
        return requeued;
    }

    private static final OutboxRowId NO_ROW = new OutboxRowId(0, new UUID(0, 0));

    int skip(Connection connection, TransactionLimits limits, OutboxFilter filter, String reason, int limit)
            throws SQLException {
        // As of a failure: cut, and without what the database cannot store.
        String error = new OutboxFailure(NO_ROW, true, Duration.ZERO, reason).error();
        List<Locked> locked = lock(connection, limits, sql.lockPending(), filter, limit);
        return rows.update(connection, limits, sql.skip(), (statement, first) -> {
            statement.setString(first, error);
            statement.setArray(first + 1, ids(connection, locked));
        });
    }

    int discard(Connection connection, TransactionLimits limits, OutboxFilter filter, int limit) throws SQLException {
        List<Locked> locked = lock(connection, limits, sql.lockDead(), filter, limit);
        return rows.update(
                connection,
                limits,
                sql.discard(),
                (statement, first) -> statement.setArray(first, ids(connection, locked)));
    }

    int releaseClaims(Connection connection, TransactionLimits limits, String owner, int limit) throws SQLException {
        List<Locked> locked = rows.query(
                connection,
                limits,
                sql.lockClaimed(),
                (statement, first) -> {
                    statement.setString(first, owner);
                    statement.setInt(first + 1, checked(limit));
                },
                ManagedOutboxRows::readLocked);
        List<Long> sequences = locked.stream().map(Locked::sequence).toList();
        return rows.markLocked(connection, limits, relaySql.returnExpired(), sequences);
    }

    private List<Locked> lock(
            Connection connection, TransactionLimits limits, String statementText, OutboxFilter filter, int limit)
            throws SQLException {
        return rows.query(
                connection,
                limits,
                statementText,
                (statement, first) -> bindFilter(connection, statement, first, filter, checked(limit)),
                ManagedOutboxRows::readLocked);
    }

    private static List<Locked> readLocked(ResultSet result) throws SQLException {
        List<Locked> locked = new ArrayList<>();
        while (result.next()) {
            locked.add(new Locked(result.getObject("event_id", UUID.class), result.getLong("seq")));
        }
        locked.sort(Comparator.comparingLong(Locked::sequence));
        return locked;
    }

    private static Array ids(Connection connection, List<Locked> locked) throws SQLException {
        return connection.createArrayOf(
                "uuid", locked.stream().map(Locked::eventId).toArray());
    }
}
