package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.StoreException;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The outbox on MariaDB. */
final class MariaDbOutboxRows extends PlainOutboxRows {
    private static final int MOST_EVENTS_OF_A_STATEMENT = 500;

    /** A statement is one packet, whose bound is 16 MiB unless the server is told otherwise; its text doubles some bytes. */
    private static final int MOST_BYTES_OF_A_STATEMENT = 1 << 20;

    private final MariaDbOutboxSql sql;

    MariaDbOutboxRows(MariaDbOutboxSql sql) {
        super(sql);
        this.sql = sql;
    }

    /**
     * Many rows in one statement, which passes over ids that are there and returns the others. An error for such an id
     * would be logged by the driver with the id in it.
     */
    @Override
    Set<UUID> insert(Connection connection, List<OutboxEvent> events) throws SQLException {
        Set<UUID> known = new HashSet<>();
        for (List<OutboxEvent> part : parts(events)) {
            known.addAll(insertPart(connection, part));
        }
        return known;
    }

    private Set<UUID> insertPart(Connection connection, List<OutboxEvent> events) throws SQLException {
        Set<UUID> known = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql.append(events.size()))) {
            Parameters parameters = Parameters.of(statement);
            for (OutboxEvent event : events) {
                bind(parameters, event);
                known.add(event.eventId().orElseThrow());
            }
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    known.remove(rows.getObject(1, UUID.class));
                }
            }
            refuseOtherWarnings(statement.getWarnings());
        }
        return known;
    }

    /** The insert has locked what it has passed over, so it is still there. */
    @Override
    int checkSame(Connection connection, List<OutboxEvent> events, Set<UUID> known) throws SQLException {
        int found = super.checkSame(connection, events, known);
        if (found < known.size()) {
            throw new StoreException(
                    "The server passed over " + (known.size() - found) + " events that were to be appended, although"
                            + " they are not in the outbox: roll back, and see its warnings",
                    null);
        }
        return found;
    }

    /** The same word that passes over a known id would cut a value that does not fit. */
    private static void refuseOtherWarnings(@Nullable SQLWarning first) {
        for (SQLWarning warning = first; warning != null; warning = warning.getNextWarning()) {
            if (warning.getErrorCode() != SqlErrors.MARIADB_DUPLICATE_KEY) {
                throw new StoreException(
                        "Events were to be appended, but the server would store something else: roll back, and see the"
                                + " cause",
                        warning);
            }
        }
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

    /** The relay's transaction, whoever began it, must lock rows alone and not the gaps between them. */
    @Override
    List<OutboxRow> lock(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        MariaDbSession.readCommitted(connection);
        return super.lock(connection, limits, query);
    }

    /** That transaction is READ COMMITTED already. */
    @Override
    List<OutboxRow> lockOwn(Connection connection, TransactionLimits limits, OutboxQuery query) throws SQLException {
        return super.lock(connection, limits, query);
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
}
