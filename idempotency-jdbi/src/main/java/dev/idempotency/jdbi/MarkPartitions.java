package dev.idempotency.jdbi;

import dev.idempotency.spi.MarkPartitioning;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides the marks on PostgreSQL by the time in their event ids (UUIDv7 and the like), so that old ones go by dropping a
 * table and not row by row; applications with many events make one, call {@link #install()} once, and give it to {@link
 * dev.idempotency.event.MarkCleanUp}.
 *
 * <p>The id is the partition key, so it stays unique over all partitions, which it would not if marks were divided by the
 * time of processing. Ids without a time, which are random or stand for a text, share one partition, from which the clean-up
 * deletes by age. An id of any time finds a partition, whatever its producer's clock says.
 *
 * <p>A partition is dropped when the time of its ids has passed and no mark in it is younger than the age: an old event that
 * was processed late keeps its partition. {@link JdbiEventStore} needs to be told nothing.
 *
 * <p>Its user must own the table. Safe for use by many threads and processes. It does not own the data source.
 */
public final class MarkPartitions implements MarkPartitioning {
    private static final Logger log = LoggerFactory.getLogger(MarkPartitions.class);

    private static final Duration SHORTEST_AGE = Duration.ofMinutes(1);

    /** So many widths ahead of now partitions are there. */
    private static final int AHEAD = 3;

    private static final Duration LONGEST_COPY = Duration.ofHours(6);

    /** In one call, so that a clock that was set far ahead does not make tables without end. */
    private static final int MOST_AT_ONCE = 100;

    /** The first bound of the table, before which there were no time-ordered ids. */
    private static final Instant FIRST_BOUND = Instant.parse("2020-01-01T00:00:00Z");

    private static final Pattern BOUNDS =
            Pattern.compile("FOR VALUES FROM \\((MINVALUE|'([0-9a-f-]{36})')\\) TO \\((MAXVALUE|'([0-9a-f-]{36})')\\)");
    private static final DateTimeFormatter IN_NAMES =
            DateTimeFormatter.ofPattern("yyyyMMdd_HHmm", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final StoreDatabase database;
    private final MarkPartitionsSql sql;
    private final TransactionLimits limits;
    private final long widthMillis;

    private record Bounds(
            String name, @Nullable UUID from, @Nullable UUID to) {}

    private MarkPartitions(StoreDatabase database, MarkPartitionsSql sql, TransactionLimits limits, Duration width) {
        this.database = database;
        this.sql = sql;
        this.limits = limits;
        this.widthMillis = width.toMillis();
    }

    /**
     * Returns the partitions of a database's marks, each as wide as a day.
     *
     * @param dataSource the database, as a user who owns the table of marks
     * @return the partitions
     * @throws IllegalArgumentException if it is not PostgreSQL
     * @throws dev.idempotency.SchemaException if the table is missing; {@link SchemaInstaller} makes it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     */
    public static MarkPartitions of(DataSource dataSource) {
        return of(dataSource, Duration.ofDays(1));
    }

    /**
     * Returns the partitions of a database's marks.
     *
     * @param dataSource the database, as a user who owns the table of marks
     * @param width how much time of ids one partition holds, 1 minute to 366 days, whole minutes; a day by default. The age
     *     of marks divided by it should be less than some hundred
     * @return the partitions
     * @throws IllegalArgumentException if it is not PostgreSQL, or the width is out of range
     * @throws dev.idempotency.SchemaException if the table is missing; {@link SchemaInstaller} makes it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     */
    public static MarkPartitions of(DataSource dataSource, Duration width) {
        return of(dataSource, width, TableNames.ofDefaults());
    }

    static MarkPartitions of(DataSource dataSource, Duration width, TableNames names) {
        if (width.toMinutes() < 1
                || width.compareTo(Duration.ofDays(366)) > 0
                || !width.equals(Duration.ofMinutes(width.toMinutes()))) {
            throw new IllegalArgumentException(
                    "The width must be 1 minute to 366 days in whole minutes, but is " + width);
        }
        StoreDatabase database = StoreDatabase.connect(dataSource, names, SchemaSubject.EVENTS);
        if (database.dialect() != SqlDialect.POSTGRESQL) {
            throw new IllegalArgumentException("Marks are divided on PostgreSQL alone, but this is "
                    + database.dialect() + ": use the plain table, which MarkCleanUp empties row by row");
        }
        return new MarkPartitions(database, new MarkPartitionsSql(names), TransactionLimits.ofDefaults(), width);
    }

    /**
     * Puts the divided table in the place of the plain one, with the marks that are there, in one transaction; does nothing if
     * it is divided already.
     *
     * <p>Consumers wait while the marks are copied, for as long as their limits allow, and then try again: with millions of
     * marks that takes a while.
     *
     * @throws dev.idempotency.StoreConflictException if the table's lock was not given in time; nothing was changed
     * @throws dev.idempotency.StoreException if the user may not do this; nothing was changed
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     */
    public void install() {
        database.inOwnTransaction("The division of the table of marks", limits, (transaction, connection) -> {
            putInForce(connection, LONGEST_COPY);
            execute(connection, SchemaSql.of(SqlDialect.POSTGRESQL).lockInstaller());
            if (isPartitioned(connection)) {
                return false;
            }
            String first = bound(FIRST_BOUND.toEpochMilli()).toString();
            execute(connection, sql.lockTable());
            execute(connection, sql.stepAside());
            execute(connection, sql.createTable());
            execute(connection, sql.createAgeIndex());
            execute(connection, sql.createBefore(first));
            execute(connection, sql.createAfter(first));
            execute(connection, sql.createOther());
            execute(connection, sql.moveIn());
            return true;
        });
        createAhead();
    }

    @Override
    public int maintain(Duration age) {
        if (age.compareTo(SHORTEST_AGE) < 0) {
            throw new IllegalArgumentException("The age must be at least 1 minute, but is " + age);
        }
        createAhead();
        int dropped = 0;
        while (dropped < MOST_AT_ONCE && dropOldest(age)) {
            dropped++;
        }
        return dropped;
    }

    // ---- ahead

    private void createAhead() {
        int made = 0;
        while (made < MOST_AT_ONCE && createNext()) {
            made++;
        }
    }

    /** Makes the next partition, in a transaction of its own; false if there are enough. */
    private boolean createNext() {
        return database.inOwnTransaction("The next partition of marks", limits, (transaction, connection) -> {
            putInForce(connection, limits.statement());
            if (!query(connection, sql.tryLock(), rows -> rows.getBoolean(1))) {
                return false;
            }
            UUID from = partition(connection, sql.after()).from();
            if (from == null) {
                throw broken(sql.after() + " has no lower bound");
            }
            long now = query(connection, MarkPartitionsSql.now(), rows -> rows.getLong(1));
            long to = next(millis(from), now);
            if (to > now + AHEAD * widthMillis) {
                return false;
            }
            String name = sql.events + "_t" + IN_NAMES.format(Instant.ofEpochMilli(to));
            String end = bound(to).toString();
            // Whatever waits for a lock makes everybody wait behind it, so it takes the strongest first and for a short
            // time.
            execute(connection, sql.lockTable());
            execute(connection, sql.detach(sql.after()));
            execute(connection, sql.createPartition(name, "'" + from + "'", "'" + end + "'"));
            execute(connection, sql.moveOutOfAfter(end, name));
            execute(connection, sql.attachAfter(end));
            log.debug("The marks of ids before {} have the partition {}", Instant.ofEpochMilli(to), name);
            return true;
        });
    }

    /** The first one after a pause of any length holds all of it, up to the width in which now is. */
    private long next(long from, long now) {
        long present = now - Math.floorMod(now, widthMillis);
        return from < present ? present : from - Math.floorMod(from, widthMillis) + widthMillis;
    }

    // ---- old ones

    private boolean dropOldest(Duration age) {
        return database.inOwnTransaction("The drop of old marks", limits, (transaction, connection) -> {
            putInForce(connection, limits.statement());
            if (!query(connection, sql.tryLock(), rows -> rows.getBoolean(1))) {
                return false;
            }
            UUID start = partition(connection, sql.before()).to();
            Bounds oldest = partitions(connection).stream()
                    .filter(each -> each.from() != null && each.from().equals(start))
                    .findFirst()
                    .orElseThrow(() -> broken("no partition begins where " + sql.before() + " ends"));
            UUID end = oldest.to();
            long now = query(connection, MarkPartitionsSql.now(), rows -> rows.getLong(1));
            if (end == null
                    || oldest.name().equals(sql.after())
                    || millis(end) > now - age.toMillis()
                    // Once without a lock, which mostly says no, and once when nobody can mark any more.
                    || holdsYoung(connection, oldest.name(), age)) {
                return false;
            }
            execute(connection, sql.lockTable());
            if (holdsYoung(connection, oldest.name(), age)) {
                transaction.setRollbackOnly();
                return false;
            }
            execute(connection, MarkPartitionsSql.drop(oldest.name()));
            execute(connection, sql.detach(sql.before()));
            execute(connection, sql.attachBefore(end.toString()));
            log.debug("The partition {} is dropped: all marks in it are older than {}", oldest.name(), age);
            return true;
        });
    }

    private static boolean holdsYoung(Connection connection, String partition, Duration age) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MarkPartitionsSql.findYoung(partition))) {
            statement.setLong(1, age.toNanos() / 1000);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    // ---- what is there

    private boolean isPartitioned(Connection connection) throws SQLException {
        return query(connection, sql.isPartitioned(), rows -> rows.getBoolean(1));
    }

    private Bounds partition(Connection connection, String name) throws SQLException {
        return partitions(connection).stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> broken("there is no partition " + name));
    }

    private List<Bounds> partitions(Connection connection) throws SQLException {
        List<Bounds> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql.partitions())) {
            while (rows.next()) {
                Matcher bounds = BOUNDS.matcher(rows.getString(2));
                if (!bounds.matches()) {
                    throw broken(rows.getString(1) + " has the bounds " + rows.getString(2));
                }
                found.add(new Bounds(sql.schema() + rows.getString(1), uuid(bounds.group(2)), uuid(bounds.group(4))));
            }
        }
        return found;
    }

    private IllegalStateException broken(String finding) {
        return new IllegalStateException("The table " + sql.events + " is not divided as install() divides it: "
                + finding + ". Call install() first, or undo what was changed by hand");
    }

    private static @Nullable UUID uuid(@Nullable String text) {
        return text == null ? null : UUID.fromString(text);
    }

    /** The lowest id of a time. */
    private static UUID bound(long millis) {
        return new UUID(millis << 16, 0);
    }

    private static long millis(UUID bound) {
        return bound.getMostSignificantBits() >>> 16;
    }

    private void putInForce(Connection connection, Duration statement) throws SQLException {
        // With one snapshot for the transaction, what consumers commit before they give the table up would not be seen,
        // and be dropped.
        execute(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        // SET does not take parameters, and these are numbers.
        execute(connection, "SET LOCAL lock_timeout = " + limits.lockWait().toMillis());
        execute(connection, "SET LOCAL statement_timeout = " + statement.toMillis());
    }

    private static void execute(Connection connection, String command) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }

    private static <T> T query(Connection connection, String query, Row<T> row) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return row.read(rows);
        }
    }

    /** Reads the one row of an answer. */
    @FunctionalInterface
    private interface Row<T> {
        T read(ResultSet rows) throws SQLException;
    }
}
