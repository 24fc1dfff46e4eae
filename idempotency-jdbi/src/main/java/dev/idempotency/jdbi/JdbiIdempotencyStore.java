package dev.idempotency.jdbi;

import dev.idempotency.IdempotencyException;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import java.sql.Connection;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the records of operations in the table {@code idempotency_record} of a PostgreSQL, MariaDB or H2 database; applications
 * make one per database and give it to {@link dev.idempotency.Idempotency}.
 *
 * <p>It holds both protections. For {@link dev.idempotency.Protection#TRANSACTIONAL} its statements run in the
 * transaction they are given: any runner will do whose transactions have a {@link Connection} to the same database. For
 * {@link dev.idempotency.Protection#LEASED} and for house-keeping it opens short transactions of its own on its data
 * source, and must not be called inside another.
 *
 * <p>On PostgreSQL a claim within a transaction is one execution that writes nothing, and the completion is one
 * statement; a claim in a transaction that is rollback-only, which is a look-up, runs as READ COMMITTED whatever the
 * pool's default is. On MariaDB and H2 a claim writes its row first. All times are the database's.
 *
 * <p>Safe for use by many threads. It does not own the data source.
 */
public final class JdbiIdempotencyStore implements TransactionalIdempotencyStore, LeasedIdempotencyStore {
    private static final Logger log = LoggerFactory.getLogger(JdbiIdempotencyStore.class);

    private static final Duration LONGEST_LEASE = Duration.ofHours(24);

    private final StoreDatabase database;
    private final OperationRecords records;
    private final TransactionLimits limits;

    JdbiIdempotencyStore(StoreDatabase database, OperationRecords records, TransactionLimits limits) {
        this.database = database;
        this.records = records;
        this.limits = limits;
    }

    /**
     * Returns a store with all defaults.
     *
     * @param dataSource the database
     * @return the store
     * @throws dev.idempotency.SchemaException if the table, a column or a unique index is missing; the message holds
     *     the statements that add it
     * @throws dev.idempotency.StoreUnavailableException if the database does not answer
     * @throws IllegalArgumentException if it is none of PostgreSQL, MariaDB and H2
     * @throws IllegalStateException if its connections have {@code autosave=always}
     */
    public static JdbiIdempotencyStore of(DataSource dataSource) {
        return builder(dataSource).build();
    }

    /**
     * Returns a builder.
     *
     * @param dataSource the database; of a {@link dev.idempotency.transaction.JoiningDataSource} the pool behind it
     * @return the builder, with all defaults
     */
    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    @Override
    public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
        return database.join(
                "The claim of " + request.id().key(),
                transaction,
                (joined, connection) -> joined.isRollbackOnly()
                        ? records.probe(connection, joined.limits(), request)
                        : records.claim(connection, joined.limits(), request));
    }

    @Override
    public void complete(Transaction transaction, Claim claim, RecordedResult result) {
        Objects.requireNonNull(result, "result");
        database.join("The completion of " + claim.request().id().key(), transaction, (joined, connection) -> {
            records.complete(connection, claim, result);
            return true;
        });
    }

    @Override
    public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
        checkLease(leaseDuration);
        ClaimAttempt attempt = new ClaimAttempt(request, leaseDuration);
        try {
            return attempt.run(Optional.empty());
        } catch (OutcomeUnknownException e) {
            return attempt.resolve(e);
        }
    }

    @Override
    public boolean extend(Claim claim, Duration leaseDuration) {
        checkLease(leaseDuration);
        return inOwnTransaction(
                "The extension of the lease on",
                claim,
                (transaction, connection) -> records.extend(connection, limits, claim, leaseDuration));
    }

    @Override
    public boolean complete(Claim claim, RecordedResult result) {
        Objects.requireNonNull(result, "result");
        return inOwnTransaction(
                "The completion of",
                claim,
                (transaction, connection) -> records.completeLease(connection, limits, claim, result));
    }

    @Override
    public boolean release(Claim claim) {
        return inOwnTransaction(
                "The release of", claim, (transaction, connection) -> records.release(connection, limits, claim));
    }

    @Override
    public boolean forget(RecordId id) {
        Objects.requireNonNull(id, "id");
        return database.inOwnTransaction(
                "The deletion of one record",
                limits,
                (transaction, connection) -> records.forget(connection, limits, id));
    }

    @Override
    public int forgetCaller(Scope caller, int limit) {
        Objects.requireNonNull(caller, "caller");
        checkLimit(limit);
        return database.inOwnTransaction(
                "The deletion of one caller's records",
                limits,
                (transaction, connection) -> records.forgetCaller(connection, limits, caller, limit));
    }

    @Override
    public int deleteExpired(int limit) {
        checkLimit(limit);
        return database.inOwnTransaction(
                "The deletion of expired records",
                limits,
                (transaction, connection) -> records.deleteExpired(connection, limits, limit));
    }

    private boolean inOwnTransaction(String attempted, Claim claim, StoreDatabase.SqlWork<Boolean> work) {
        return database.inOwnTransaction(attempted + " " + claim.request().id().key(), limits, work);
    }

    private static void checkLease(Duration leaseDuration) {
        if (leaseDuration.toMillis() < 1000 || leaseDuration.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException("A lease must be between 1 s and 24 h, but is " + leaseDuration);
        }
    }

    private static void checkLimit(int limit) {
        if (limit < 1 || limit > 10_000) {
            throw new IllegalArgumentException("The limit must be between 1 and 10000, but is " + limit);
        }
    }

    /** One call of the leased claim, which may need a second transaction to learn what became of its first. */
    private final class ClaimAttempt {
        private final ClaimRequest request;
        private final Duration leaseDuration;
        private Optional<Claim> written = Optional.empty();

        ClaimAttempt(ClaimRequest request, Duration leaseDuration) {
            this.request = request;
            this.leaseDuration = leaseDuration;
        }

        ClaimOutcome run(Optional<Claim> own) {
            return database.inOwnTransaction(
                    "The claim of " + request.id().key(), limits, (transaction, connection) -> {
                        ClaimOutcome outcome = records.claimLease(connection, limits, request, leaseDuration, own);
                        noteWhatIsWritten(transaction, outcome);
                        return outcome;
                    });
        }

        private void noteWhatIsWritten(Transaction transaction, ClaimOutcome outcome) {
            if (outcome instanceof ClaimOutcome.Acquired acquired) {
                written = Optional.of(acquired.claim());
            } else {
                transaction.setRollbackOnly();
            }
        }

        /** Looks again under the lock: the claim's row is there with its id, or the commit did not happen (T6). */
        ClaimOutcome resolve(OutcomeUnknownException unknown) {
            log.debug("The commit of a claim of {} is unknown: looking its row up", request.id(), unknown);
            try {
                return run(written);
            } catch (IdempotencyException e) {
                unknown.addSuppressed(e);
                throw unknown;
            }
        }
    }

    /** Collects the options of a {@link JdbiIdempotencyStore}. Not safe for use by many threads. */
    public static final class Builder {
        private final DataSource dataSource;
        private TableNames names = TableNames.ofDefaults();
        private TransactionLimits limits = TransactionLimits.ofDefaults();
        private Duration retryAfter = Duration.ofSeconds(1);
        private Duration tombstones = Duration.ZERO;

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        /**
         * Bounds the waits inside the store's own transactions.
         *
         * @param transactionLimits the limits; {@link TransactionLimits#ofDefaults()} unless set
         * @return this builder
         */
        public Builder limits(TransactionLimits transactionLimits) {
            this.limits = Objects.requireNonNull(transactionLimits, "transactionLimits");
            return this;
        }

        /**
         * Sets when a duplicate of a running operation is told to come back; where the end of its lease is nearer, it is
         * told that.
         *
         * @param duration more than zero, at most 1 h; 1 s unless set
         * @return this builder
         * @throws IllegalArgumentException if the duration is out of its range
         */
        public Builder retryAfter(Duration duration) {
            if (duration.isZero() || duration.isNegative() || duration.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException(
                        "retryAfter must be more than 0 and at most 1 h, but is " + duration);
            }
            this.retryAfter = duration;
            return this;
        }

        /**
         * Keeps a tombstone of each record after its retention: a repeat that comes so late is refused as {@link
         * dev.idempotency.OperationOutcome.Expired} and not taken for a new operation.
         *
         * <p>The answer itself is deleted when the retention ends, by the same clean-up that deletes the tombstone in
         * the end. All processes on one table must be told the same duration; whoever is told none deletes the records of
         * the others. {@link #forget} deletes a tombstone as it deletes a record, and the next repeat runs.
         *
         * @param duration how long after the retention, 1 s to 3,660 days; none are kept unless set
         * @return this builder
         * @throws IllegalArgumentException if the duration is out of its range
         */
        public Builder tombstones(Duration duration) {
            if (duration.compareTo(Duration.ofSeconds(1)) < 0 || duration.compareTo(Duration.ofDays(3660)) > 0) {
                throw new IllegalArgumentException("tombstones must be between 1 s and 3660 days, but is " + duration);
            }
            this.tombstones = duration;
            return this;
        }

        /** Puts the table under other names, for tests of this package. */
        Builder names(TableNames tableNames) {
            this.names = tableNames;
            return this;
        }

        /**
         * Looks at the database and builds the store.
         *
         * @return the store
         * @throws dev.idempotency.SchemaException if the table, a column or a unique index is missing; the message
         *     holds the statements that add it
         * @throws dev.idempotency.StoreUnavailableException if the database does not answer
         * @throws IllegalArgumentException if it is none of PostgreSQL, MariaDB and H2
         * @throws IllegalStateException if its connections have {@code autosave=always}
         */
        public JdbiIdempotencyStore build() {
            StoreDatabase database = StoreDatabase.connect(dataSource, names, SchemaSubject.OPERATIONS);
            OperationRecords records = database.inOwnTransaction(
                    "The look at the database's settings", limits, (transaction, connection) -> {
                        transaction.setRollbackOnly();
                        return OperationRecords.of(database.dialect(), names, retryAfter, tombstones, connection);
                    });
            return new JdbiIdempotencyStore(database, records, limits);
        }
    }
}
