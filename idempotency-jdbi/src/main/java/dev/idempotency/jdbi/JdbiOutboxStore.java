package dev.idempotency.jdbi;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.BucketLease;
import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.LeasedOutboxStore;
import dev.idempotency.spi.LocatedStore;
import dev.idempotency.spi.LockingOutboxStore;
import dev.idempotency.spi.LowWaterMark;
import dev.idempotency.spi.ManagedOutboxStore;
import dev.idempotency.spi.OutboxBacklog;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxEntry;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxFilter;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * The outbox in an SQL database, with the abilities of all three ways to relay and those that
 * operators need; applications make one per database and
 * give it to their outbox and their relays.
 *
 * <p>It keeps to the tables {@code outbox_event}, {@code outbox_lease} and {@code outbox_relay}. Give it a pool with at
 * least four connections for a relay, beside those of the application. Safe for use by many threads.
 */
public final class JdbiOutboxStore
        implements LeasedOutboxStore, ClaimingOutboxStore, LockingOutboxStore, ManagedOutboxStore, LocatedStore {
    private final StoreDatabase database;
    private final OutboxSql sql;
    private final OutboxRows rows;
    private final ManagedOutboxRows managed;
    private final TransactionLimits limits = TransactionLimits.ofDefaults();
    private final SecureRandom random = new SecureRandom();

    private JdbiOutboxStore(StoreDatabase database, OutboxSql sql, OutboxRows rows) {
        this.database = database;
        this.sql = sql;
        this.rows = rows;
        this.managed = new ManagedOutboxRows(sql, rows);
    }

    /**
     * Returns the outbox of a database, after a look at its tables.
     *
     * @param dataSource the database; a {@link dev.idempotency.transaction.JoiningDataSource} stands for what it wraps
     * @return the store
     * @throws dev.idempotency.SchemaException if a table, a column or a unique index is missing; the message holds the
     *     statements that cure it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws IllegalArgumentException if it is of a kind this module does not know
     */
    public static JdbiOutboxStore of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    static JdbiOutboxStore of(DataSource dataSource, TableNames names) {
        StoreDatabase database = StoreDatabase.connect(dataSource, names, SchemaSubject.OUTBOX);
        return switch (database.dialect()) {
            case POSTGRESQL -> onPostgreSql(database, names);
            case MARIADB -> onMariaDb(database, names);
            case H2 -> onH2(database, names);
        };
    }

    private static JdbiOutboxStore onPostgreSql(StoreDatabase database, TableNames names) {
        PostgreSqlLimits settings = database.inOwnTransaction(
                "The look at the server's settings",
                TransactionLimits.ofDefaults(),
                (transaction, connection) -> PostgreSqlLimits.probe(connection));
        PostgreSqlOutboxSql sql = new PostgreSqlOutboxSql(names, settings);
        return new JdbiOutboxStore(database, sql, new PostgreSqlOutboxRows(sql));
    }

    private static JdbiOutboxStore onMariaDb(StoreDatabase database, TableNames names) {
        MariaDbOutboxSql sql = new MariaDbOutboxSql(names);
        return new JdbiOutboxStore(database, sql, new MariaDbOutboxRows(sql));
    }

    private static JdbiOutboxStore onH2(StoreDatabase database, TableNames names) {
        H2OutboxSql sql = new H2OutboxSql(names);
        return new JdbiOutboxStore(database, sql, new H2OutboxRows(sql));
    }

    @Override
    public Set<UUID> append(TransactionContext transaction, List<OutboxEvent> events) {
        Connection connection = database.connection(transaction);
        try {
            requireTransaction(connection);
            Set<UUID> known = rows.insert(connection, events);
            if (!known.isEmpty()) {
                rows.checkSame(connection, events, known);
            }
            return known;
        } catch (SQLException e) {
            throw SqlErrors.translate("The append to the outbox", e);
        }
    }

    @Override
    public void appendNew(TransactionContext transaction, List<OutboxEvent> events) {
        Connection connection = database.connection(transaction);
        try {
            requireTransaction(connection);
            rows.insertNew(connection, events);
        } catch (SQLException e) {
            throw SqlErrors.translate("The append to the outbox", e);
        }
    }

    private static void requireTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("Events were to be appended on a connection in autocommit, so they would"
                    + " be published whether or not the business transaction commits: call setAutoCommit(false)"
                    + " before its first statement");
        }
    }

    @Override
    public LowWaterMark advance(LowWaterMark mark) {
        return own("The advance of the low-water mark", connection -> rows.advance(connection, limits, mark));
    }

    @Override
    public int deletePublished(Duration age, int limit) {
        return own(
                "The deletion of published rows", connection -> rows.deletePublished(connection, limits, age, limit));
    }

    @Override
    public OutboxClaim claim(String owner, Duration leaseDuration, OutboxQuery query) {
        long token = random.nextLong();
        List<OutboxRow> claimed = own(
                "The claim of outbox rows",
                connection -> rows.claim(connection, limits, owner, token, leaseDuration, query));
        return new OutboxClaim(token, claimed);
    }

    @Override
    public int markPublished(long token, List<OutboxRowId> ids, PublishedRows published) {
        String statement = published == PublishedRows.DELETE ? sql.claimDeletePublished() : sql.claimPublished();
        return own("The mark of published rows", connection -> rows.mark(connection, limits, statement, ids, token));
    }

    @Override
    public int markFailed(long token, List<OutboxFailure> failures) {
        return own(
                "The mark of failed rows",
                connection -> rows.fail(
                        connection,
                        limits,
                        sql.claimFailed(),
                        failures,
                        (statement, first) -> statement.setLong(first, token)));
    }

    @Override
    public int release(long token, List<OutboxRowId> ids) {
        return own(
                "The release of claimed rows",
                connection -> rows.mark(connection, limits, sql.claimRelease(), ids, token));
    }

    @Override
    public int returnExpired(int limit) {
        return own("The return of rows whose claim has ended", connection -> {
            List<Long> expired = rows.lockExpired(connection, limits, limit);
            return expired.isEmpty() ? 0 : rows.markLocked(connection, limits, sql.returnExpired(), expired);
        });
    }

    @Override
    public int announce(String owner, Duration leaseDuration) {
        return own(
                "The announcement of a relay", connection -> rows.announce(connection, limits, owner, leaseDuration));
    }

    @Override
    public List<BucketLease> acquire(String owner, Duration leaseDuration, int most) {
        return own(
                "The lease of bucket ranges",
                connection -> rows.acquire(connection, limits, owner, leaseDuration, most));
    }

    @Override
    public List<BucketLease> extend(String owner, Collection<BucketLease> leases, Duration leaseDuration) {
        return own(
                "The renewal of leases", connection -> rows.extend(connection, limits, owner, leases, leaseDuration));
    }

    @Override
    public int release(String owner, Collection<BucketLease> leases) {
        return own("The release of leases", connection -> rows.release(connection, limits, owner, leases));
    }

    @Override
    public void withdraw(String owner) {
        own("The withdrawal of a relay", connection -> {
            rows.withdraw(connection, limits, owner);
            return true;
        });
    }

    @Override
    public List<OutboxRow> read(Collection<BucketLease> leases, OutboxQuery query) {
        return own("The look at outbox rows", connection -> rows.read(connection, limits, leases, query));
    }

    @Override
    public int markPublished(
            String owner, Collection<BucketLease> leases, List<OutboxRowId> ids, PublishedRows published) {
        String statement = published == PublishedRows.DELETE ? sql.leaseDeletePublished() : sql.leasePublished();
        return own(
                "The mark of published rows",
                connection -> rows.markLeased(connection, limits, statement, ids, owner, leases));
    }

    @Override
    public int markFailed(String owner, Collection<BucketLease> leases, List<OutboxFailure> failures) {
        return own(
                "The mark of failed rows",
                connection -> rows.fail(
                        connection,
                        limits,
                        sql.leaseFailed(),
                        failures,
                        (statement, first) -> rows.bindLeases(connection, statement, first, owner, leases)));
    }

    @Override
    public List<OutboxRow> lock(Transaction transaction, OutboxQuery query) {
        return joined(
                "The lock of outbox rows",
                transaction,
                connection -> rows.lock(connection, transaction.limits(), query));
    }

    @Override
    public int markPublished(Transaction transaction, List<OutboxRowId> ids, PublishedRows published) {
        String statement = published == PublishedRows.DELETE ? sql.lockDeletePublished() : sql.lockPublished();
        return joined(
                "The mark of published rows",
                transaction,
                connection -> rows.markJoined(connection, transaction.limits(), statement, ids));
    }

    @Override
    public int markFailed(Transaction transaction, List<OutboxFailure> failures) {
        return joined(
                "The mark of failed rows",
                transaction,
                connection -> rows.fail(
                        connection, transaction.limits(), sql.lockFailed(), failures, (statement, first) -> {}));
    }

    @Override
    public OutboxBacklog backlog() {
        return own("The look at the outbox's ends", connection -> managed.backlog(connection, limits));
    }

    @Override
    public List<OutboxEntry> find(OutboxEntry.Status status, OutboxFilter filter, int limit) {
        return own("The list of outbox rows", connection -> managed.find(connection, limits, status, filter, limit));
    }

    @Override
    public int requeue(OutboxFilter filter, int limit) {
        return own("The requeueing of dead rows", connection -> managed.requeue(connection, limits, filter, limit));
    }

    @Override
    public int skip(OutboxFilter filter, String reason, int limit) {
        return own("The skipping of rows", connection -> managed.skip(connection, limits, filter, reason, limit));
    }

    @Override
    public int discard(OutboxFilter filter, int limit) {
        return own("The discarding of dead rows", connection -> managed.discard(connection, limits, filter, limit));
    }

    @Override
    public int releaseClaims(String owner, int limit) {
        return own(
                "The release of a relay's claims",
                connection -> managed.releaseClaims(connection, limits, owner, limit));
    }

    @Override
    public String location() {
        return database.location("outbox_event");
    }

    @Override
    public String location(TransactionContext transaction) {
        return database.location(transaction, "outbox_event");
    }

    private <T> T own(String attempted, Statements<T> statements) {
        return database.inOwnTransaction(attempted, limits, (transaction, connection) -> statements.run(connection));
    }

    private <T> T joined(String attempted, Transaction transaction, Statements<T> statements) {
        return database.join(attempted, transaction, (same, connection) -> statements.run(connection));
    }

    /** Statements on the connection of a transaction. */
    @FunctionalInterface
    private interface Statements<T> {
        T run(Connection connection) throws SQLException;
    }
}
