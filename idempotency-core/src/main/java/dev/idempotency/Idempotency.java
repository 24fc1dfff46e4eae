package dev.idempotency;

import dev.idempotency.operation.OperationListener;
import dev.idempotency.operation.OutcomeKind;
import dev.idempotency.operation.ResultCodecs;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Permit;
import dev.idempotency.spi.IdempotencyStore;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs an operation once per key, and gives every repeat the first answer; adapters and applications call it.
 *
 * <p>Built once per application and safe for use by many threads. Under {@link Protection#LEASED} it keeps a heartbeat
 * thread while leased work runs; {@link #close()} ends it.
 */
public final class Idempotency implements AutoCloseable {
    private static final int FORGOTTEN_AT_ONCE = 1_000;

    private final @Nullable TransactionalEngine transactional;
    private final @Nullable LeasedEngine leased;
    private final Set<IdempotencyStore> stores;
    private final @Nullable GracefulShutdown shutdown;
    private final RecordFormat format;
    private final Waiters waiters;
    private final ResultCodecs codecs;
    private final Reports reports;

    private Idempotency(Builder builder) {
        this.transactional = builder.transactionalEngine();
        this.leased = builder.leasedEngine();
        this.stores = builder.stores();
        this.format = builder.format;
        this.shutdown = builder.shutdown;
        this.codecs = builder.codecs;
        this.reports = new Reports(builder.listener, builder.ticker);
        this.waiters = new Waiters(builder.maxWaiters, builder.ticker, this::acceptsWork);
    }

    /**
     * Returns a builder without a store.
     *
     * @return the builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the protections that the configured stores can hold.
     *
     * @return one or both
     */
    public Set<Protection> protections() {
        EnumSet<Protection> protections = EnumSet.noneOf(Protection.class);
        if (transactional != null) {
            protections.add(Protection.TRANSACTIONAL);
        }
        if (leased != null) {
            protections.add(Protection.LEASED);
        }
        return protections;
    }

    /**
     * Begins a call with a typed result: {@code operation("charge").key(key).execute(Receipt.class, tx -> …)}.
     *
     * @param name the operation's stable name, as in {@link Scope#operation()}; renaming it separates repeats from their
     *     first attempt
     * @return the operation, which still needs its key
     * @throws IllegalArgumentException if the name is blank or too long
     */
    public NamedOperation operation(String name) {
        return new NamedOperation(this, codecs, Scope.shared(name));
    }

    /**
     * Runs the work if this call is the first with its key, and otherwise tells what became of the first.
     *
     * <p>When it returns {@link OperationOutcome.Executed} with a success, effect and record are committed and the
     * caller may be answered; nothing may be answered before. Must not be called inside a transaction of the same
     * runner.
     *
     * @param <X> the type of exception the work may throw
     * @param operation what to run
     * @param work the work; it runs at most once, more often only for an {@link Operation#asRepeatable()} whose
     *     transaction lost against a concurrent one and left nothing
     * @return what became of the call
     * @throws X what the work threw, untouched: under {@link Protection#TRANSACTIONAL} everything is rolled back and the
     *     key is free, and a deadlock, a serialization failure or a lock not given in time is not thrown but {@link
     *     OperationOutcome.NotCommitted} with that as its cause, or what the winner has recorded; under {@link Protection#LEASED} the key is spent unless {@link
     *     IdempotencyContext#markNoEffect()} was called
     * @throws TransactionLostException if the work ended its transaction behind the library's back, so that part of it
     *     may be committed without a record; after an error that the work swallowed the outcome is {@link
     *     OperationOutcome.NotCommitted}
     * @throws IllegalArgumentException if no store was configured for the operation's protection
     */
    public <X extends Exception> OperationOutcome execute(Operation operation, OperationWork<X> work) throws X {
        return execute(operation, work, outcome -> {});
    }

    /**
     * As {@link #execute(Operation, OperationWork)}, and gives the answer while the operation still counts as in flight:
     * a shutdown waits for it too.
     *
     * @param <X> the type of exception that work and answer may throw
     * @param operation what to run
     * @param work the work
     * @param answer told the outcome, once, unless the work threw
     * @return what became of the call
     * @throws X what the work threw, or the answer
     * @throws TransactionLostException if the work ended its transaction behind the library's back
     * @throws IllegalArgumentException if no store was configured for the operation's protection
     */
    public <X extends Exception> OperationOutcome execute(
            Operation operation, OperationWork<X> work, OperationAnswer<X> answer) throws X {
        return execute(operation, work, answer, any -> true);
    }

    /**
     * As {@link #execute(Operation, OperationWork, OperationAnswer)}, for a caller who may be unable to read what an earlier
     * version has recorded. The outcome is {@link OperationOutcome.Replayed} all the same, but the listener is told {@link
     * OutcomeKind#UNREADABLE}.
     *
     * @param <X> the type of exception that work and answer may throw
     * @param operation what to run
     * @param work the work
     * @param answer told the outcome, once, unless the work threw
     * @param readable tells whether a recorded answer can be given again; asked at most once, before the answer
     * @return what became of the call
     * @throws X what the work threw, or the answer
     * @throws TransactionLostException if the work ended its transaction behind the library's back
     * @throws IllegalArgumentException if no store was configured for the operation's protection
     */
    public <X extends Exception> OperationOutcome execute(
            Operation operation,
            OperationWork<X> work,
            OperationAnswer<X> answer,
            Predicate<RecordedResult.Replayable> readable)
            throws X {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(answer, "answer");
        Objects.requireNonNull(readable, "readable");
        requireProtection(operation.protection());
        Optional<Permit> permit = enter(operation);
        try {
            Reports.Call call = reports.begin(operation);
            OperationOutcome outcome = permit.isEmpty() && shutdown != null
                    ? new OperationOutcome.ShuttingDown()
                    : executeOrWait(operation, work, call);
            call.ended(outcome, readable);
            answer.give(outcome);
            return outcome;
        } finally {
            permit.ifPresent(Permit::close);
        }
    }

    private <X extends Exception> OperationOutcome executeOrWait(
            Operation operation, OperationWork<X> work, Reports.Call call) throws X {
        try {
            return waiters.await(operation.maxWait(), found -> found instanceof OperationOutcome.InProgress, () -> {
                call.asked();
                return executeOnce(operation, work);
            });
        } catch (Exception | Error e) {
            call.failed();
            throw e;
        }
    }

    /**
     * Begins leased work that ends on another thread.
     *
     * <p>A duplicate waits as long as the operation says, on the calling thread.
     *
     * @param operation what to run, under {@link Protection#LEASED}
     * @return the running operation, which must be finished, or what to tell the caller
     * @throws IllegalArgumentException if the operation's protection is another, or no leased store was configured
     */
    public LeasedStart begin(Operation operation) {
        return begin(operation, any -> true);
    }

    /**
     * As {@link #begin(Operation)}, for a caller who may be unable to read what an earlier version has recorded; the listener
     * is told then.
     *
     * @param operation what to run, under {@link Protection#LEASED}
     * @param readable tells whether a recorded answer can be given again; asked at most once
     * @return the running operation, which must be finished, or what to tell the caller
     * @throws IllegalArgumentException if the operation's protection is another, or no leased store was configured
     */
    public LeasedStart begin(Operation operation, Predicate<RecordedResult.Replayable> readable) {
        Objects.requireNonNull(readable, "readable");
        if (operation.protection() != Protection.LEASED) {
            throw new IllegalArgumentException("Only work under LEASED can end on another thread, but " + operation.id()
                    + " is to be " + operation.protection());
        }
        LeasedEngine engine = requireLeased();
        Optional<Permit> permit = enter(operation);
        Reports.Call call = reports.begin(operation);
        if (permit.isEmpty() && shutdown != null) {
            OperationOutcome outcome = new OperationOutcome.ShuttingDown();
            call.ended(outcome);
            return new LeasedStart.NotStarted(outcome);
        }
        LeasedStart start;
        try {
            start = waiters.await(
                    operation.maxWait(),
                    found -> found instanceof LeasedStart.NotStarted notStarted
                            && notStarted.outcome() instanceof OperationOutcome.InProgress,
                    () -> {
                        call.asked();
                        return engine.begin(operation);
                    });
        } catch (RuntimeException e) {
            call.failed();
            permit.ifPresent(Permit::close);
            throw e;
        }
        if (start instanceof LeasedStart.Started started) {
            started.operation().reportTo(call);
            started.operation().onEnd(() -> permit.ifPresent(Permit::close));
        } else {
            call.ended(((LeasedStart.NotStarted) start).outcome(), readable);
            permit.ifPresent(Permit::close);
        }
        return start;
    }

    /**
     * Forgets what is recorded under one key, for a request to erase it: whoever calls with the key again is the first.
     *
     * @param scope where the key is valid
     * @param key the key
     * @return true if there was a record and it is gone; false if there was none, or its work runs right now
     * @throws StoreUnavailableException if the store is not there
     * @throws StoreException if the store refuses for good
     */
    public boolean forget(Scope scope, IdempotencyKey key) {
        RecordId stored = format.stored(new RecordId(scope, key));
        boolean forgotten = false;
        for (IdempotencyStore store : stores) {
            forgotten |= store.forget(stored);
        }
        return forgotten;
    }

    /**
     * Forgets all records of one caller over all operations, for a request to erase them, but those whose work runs right
     * now.
     *
     * <p>It goes by batches, each a transaction of its own. A {@link Scope#shared} or {@link Scope#anonymous} scope means
     * all records of its tenant that have no principal of that kind.
     *
     * @param caller any scope of the tenant and caller; its operation is not looked at
     * @return how many were forgotten
     * @throws StoreUnavailableException if the store is not there; what was forgotten before stays forgotten
     * @throws StoreConflictException if a transaction that has a record in hand did not end in time; likewise: call again
     * @throws StoreException if the store refuses for good; likewise
     */
    public int forgetCaller(Scope caller) {
        Objects.requireNonNull(caller, "caller");
        int forgotten = 0;
        for (IdempotencyStore store : stores) {
            int batch;
            do {
                batch = store.forgetCaller(caller, FORGOTTEN_AT_ONCE);
                forgotten += batch;
            } while (batch == FORGOTTEN_AT_ONCE);
        }
        return forgotten;
    }

    /** Stops the heartbeat; leases of work that still runs end by themselves. May be called more than once. */
    @Override
    public void close() {
        if (leased != null) {
            leased.close();
        }
    }

    private <X extends Exception> OperationOutcome executeOnce(Operation operation, OperationWork<X> work) throws X {
        return operation.protection() == Protection.TRANSACTIONAL
                ? requireTransactional().execute(operation, work)
                : requireLeased().execute(operation, work);
    }

    private Optional<Permit> enter(Operation operation) {
        return shutdown == null
                ? Optional.empty()
                : shutdown.inFlight().tryEnter(operation.id().scope().operation());
    }

    private boolean acceptsWork() {
        return shutdown == null || shutdown.acceptsWork();
    }

    private void requireProtection(Protection protection) {
        if (protection == Protection.TRANSACTIONAL) {
            requireTransactional();
        } else {
            requireLeased();
        }
    }

    private TransactionalEngine requireTransactional() {
        if (transactional == null) {
            throw new IllegalArgumentException("TRANSACTIONAL needs a store that joins the transaction: call"
                    + " Idempotency.builder().transactional(store, runner)");
        }
        return transactional;
    }

    private LeasedEngine requireLeased() {
        if (leased == null) {
            throw new IllegalArgumentException(
                    "LEASED needs a store that can lease: call Idempotency.builder().leased(store)");
        }
        return leased;
    }

    /** Collects the stores and limits of an {@link Idempotency}. Not safe for use by many threads. */
    public static final class Builder {
        private @Nullable TransactionalIdempotencyStore transactionalStore;
        private @Nullable TransactionRunner runner;
        private TransactionLimits limits = TransactionLimits.ofDefaults();
        private @Nullable LeasedIdempotencyStore leasedStore;
        private LeaseSettings leaseSettings = LeaseSettings.ofDefaults();
        private RecordFormat format = RecordFormat.ofDefaults();
        private KeyDerivation derivation = KeyDerivation.of("idempotency");
        private @Nullable GracefulShutdown shutdown;
        private ResultCodecs codecs = ResultCodecs.ofDefaults();
        private OperationListener listener = report -> {};
        private int maxWaiters = 16;
        private NanoTicker ticker = System::nanoTime;

        private Builder() {}

        /**
         * Makes {@link Protection#TRANSACTIONAL} available.
         *
         * @param store where the records are
         * @param transactionRunner opens transactions in the same database
         * @return this builder
         */
        public Builder transactional(TransactionalIdempotencyStore store, TransactionRunner transactionRunner) {
            this.transactionalStore = Objects.requireNonNull(store, "store");
            this.runner = Objects.requireNonNull(transactionRunner, "transactionRunner");
            return this;
        }

        /**
         * Bounds the waits inside transactions.
         *
         * @param transactionLimits the limits; {@link TransactionLimits#ofDefaults()} unless set
         * @return this builder
         */
        public Builder limits(TransactionLimits transactionLimits) {
            this.limits = Objects.requireNonNull(transactionLimits, "transactionLimits");
            return this;
        }

        /**
         * Makes {@link Protection#LEASED} available.
         *
         * @param store where the records are
         * @return this builder
         */
        public Builder leased(LeasedIdempotencyStore store) {
            this.leasedStore = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * Sets how long leases last.
         *
         * @param settings the durations; {@link LeaseSettings#ofDefaults()} unless set
         * @return this builder
         */
        public Builder lease(LeaseSettings settings) {
            this.leaseSettings = Objects.requireNonNull(settings, "settings");
            return this;
        }

        /**
         * Sets how keys and answers are stored: hashed, compressed, encoded.
         *
         * @param recordFormat the format; {@link RecordFormat#ofDefaults()} unless set
         * @return this builder
         */
        public Builder records(RecordFormat recordFormat) {
            this.format = Objects.requireNonNull(recordFormat, "recordFormat");
            return this;
        }

        /**
         * Sets the namespace of derived keys.
         *
         * @param keyDerivation the application's derivation; that of an application named {@code idempotency} unless
         *     set, which is right only while no second application calls the same provider
         * @return this builder
         */
        public Builder derivation(KeyDerivation keyDerivation) {
            this.derivation = Objects.requireNonNull(keyDerivation, "keyDerivation");
            return this;
        }

        /**
         * Joins the shutdown: once it has begun, new operations are told {@link OperationOutcome.ShuttingDown}, waiting
         * duplicates give up, and running operations are waited for.
         *
         * @param gracefulShutdown the application's shutdown
         * @return this builder
         */
        public Builder shutdown(GracefulShutdown gracefulShutdown) {
            this.shutdown = Objects.requireNonNull(gracefulShutdown, "gracefulShutdown");
            return this;
        }

        /**
         * Sets how the results of {@link Idempotency#operation} are written and read.
         *
         * @param resultCodecs one codec per type; {@link ResultCodecs#ofDefaults()} unless set
         * @return this builder
         */
        public Builder codecs(ResultCodecs resultCodecs) {
            this.codecs = Objects.requireNonNull(resultCodecs, "resultCodecs");
            return this;
        }

        /**
         * Sets who is told what became of each call.
         *
         * @param operationListener told once per call; nobody unless set
         * @return this builder
         */
        public Builder listener(OperationListener operationListener) {
            this.listener = Objects.requireNonNull(operationListener, "operationListener");
            return this;
        }

        /**
         * Bounds how many duplicates wait at the same time in this process; one more is answered at once.
         *
         * @param places 0 to 10,000; 16 unless set
         * @return this builder
         * @throws IllegalArgumentException if the number is out of its range
         */
        public Builder maxWaiters(int places) {
            if (places < 0 || places > 10_000) {
                throw new IllegalArgumentException("maxWaiters must be between 0 and 10000, but is " + places);
            }
            this.maxWaiters = places;
            return this;
        }

        /** Replaces the monotonic clock, for tests of this package. */
        Builder ticker(NanoTicker nanoTicker) {
            this.ticker = nanoTicker;
            return this;
        }

        /**
         * Builds the engine.
         *
         * @return the engine
         * @throws IllegalStateException if no store was given
         */
        public Idempotency build() {
            if (transactionalStore == null && leasedStore == null) {
                throw new IllegalStateException(
                        "An Idempotency needs a store: call transactional(store, runner), leased(store) or both");
            }
            return new Idempotency(this);
        }

        private @Nullable TransactionalEngine transactionalEngine() {
            return transactionalStore == null || runner == null
                    ? null
                    : new TransactionalEngine(
                            new FormattedStore.Transactional(transactionalStore, format), runner, limits, derivation);
        }

        private @Nullable LeasedEngine leasedEngine() {
            return leasedStore == null
                    ? null
                    : new LeasedEngine(
                            new FormattedStore.Leased(leasedStore, format), leaseSettings, derivation, ticker);
        }

        /** One, where one store holds both protections. */
        private Set<IdempotencyStore> stores() {
            Set<IdempotencyStore> stores = new LinkedHashSet<>();
            if (transactionalStore != null) {
                stores.add(transactionalStore);
            }
            if (leasedStore != null) {
                stores.add(leasedStore);
            }
            return stores;
        }
    }
}
