package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.internal.SqlFailures;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.transaction.OutcomeUnknownException;
import dev.idempotency.transaction.TransactionContext;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells one consumer which events it has processed; listeners of any kind (Kafka, RabbitMQ, JMS, a webhook) call it.
 *
 * <p>Either inside a transaction that the listener has opened itself:
 *
 * <pre>{@code
 * if (events.claim(JoinedTransaction.of(connection), eventId)) {
 *     charge(connection, event);
 * }
 * connection.commit();
 * // and only now acknowledge the message
 * }</pre>
 *
 * or in one of the library's, which also retries lost races and notices a transaction that failed unseen:
 *
 * <pre>{@code
 * boolean ran = events.processOnce(runner, eventId, context -> charge(context.transaction(), event));
 * }</pre>
 *
 * <p>Instances are immutable and safe for use by many threads.
 */
public final class ProcessedEvents {
    private final ProcessedEventStore store;
    private final ConsumerId consumer;
    private final KeyDerivation keys;
    private final TransactionLimits limits;
    private final int maxAttempts;

    private ProcessedEvents(Builder builder, ProcessedEventStore store, ConsumerId consumer) {
        this.store = store;
        this.consumer = consumer;
        this.keys = builder.keys != null ? builder.keys : KeyDerivation.of(consumer.value());
        this.limits = builder.limits;
        this.maxAttempts = builder.maxAttempts;
    }

    /**
     * Returns the events of one consumer with the default of every option.
     *
     * @param store where marks are kept
     * @param consumer the consumer's explicit, stable name
     * @return the events; the consumer is known to the store
     */
    public static ProcessedEvents of(ProcessedEventStore store, ConsumerId consumer) {
        return builder().store(store).consumer(consumer).build();
    }

    /**
     * Returns a builder with the default of every option.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Marks the events as processed, in the caller's transaction, and tells which are fresh.
     *
     * <p>Handle the fresh ones, each once, in the same transaction; all others have been processed, or are processed by a
     * transaction that has committed meanwhile. If the transaction rolls back, nothing has been claimed.
     *
     * @param transaction the caller's transaction
     * @param ids the events, in any order; may be empty
     * @return the ids that no committed transaction had marked
     * @throws dev.idempotency.StoreConflictException if the transaction lost against a concurrent one; it must be rolled
     *     back, and the delivery may be repeated
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
     * @throws dev.idempotency.StoreException if the store refused
     */
    public Set<EventId> claim(TransactionContext transaction, Collection<EventId> ids) {
        return store.mark(transaction, consumer, ids).fresh();
    }

    /**
     * Marks one event as processed, in the caller's transaction, and tells whether it is fresh.
     *
     * @param transaction the caller's transaction
     * @param id the event
     * @return true if it must be handled now, in the same transaction; false if it has been processed
     * @throws dev.idempotency.StoreConflictException as for {@link #claim(TransactionContext, Collection)}
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
     * @throws dev.idempotency.StoreException if the store refused
     */
    public boolean claim(TransactionContext transaction, EventId id) {
        return !claim(transaction, List.of(id)).isEmpty();
    }

    /**
     * Runs the work in a transaction of its own, if the event has not been processed yet.
     *
     * <p>The work runs again, up to the configured number of attempts, when its transaction lost against a concurrent one
     * (a serialization failure, a deadlock, a lock not given in time); only one run is ever committed. Acknowledge the
     * message when this method has returned.
     *
     * @param <X> the type of exception the work may throw
     * @param transactions opens and ends the transaction
     * @param id the event
     * @param work what to do about it
     * @return true if the work ran and is committed; false if the event had been processed before
     * @throws X what the work threw; nothing is left of it
     * @throws dev.idempotency.StoreConflictException if the last attempt lost as well; nothing is left of it
     * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached; nothing is left
     * @throws dev.idempotency.TransactionLostException if the transaction failed behind the library's back, because the
     *     work swallowed an SQL error; nothing is left of it
     * @throws dev.idempotency.transaction.RolledBackException if the connection saw an error after which the transaction
     *     could not last, or the work asked for a rollback; nothing is left of it
     * @throws dev.idempotency.transaction.CommitFailedException if the server refused the commit; nothing is left
     * @throws OutcomeUnknownException if the commit got no answer; calling again with the same id finds out
     */
    public <X extends Exception> boolean processOnce(TransactionRunner transactions, EventId id, EventWork<X> work)
            throws X {
        for (int attempt = 1; ; attempt++) {
            try {
                return runOnce(transactions, id, work, attempt);
            } catch (OutcomeUnknownException e) {
                throw e;
            } catch (RuntimeException e) {
                if (attempt >= maxAttempts || !SqlFailures.isConflict(e)) {
                    throw e;
                }
            } catch (Exception e) {
                if (attempt >= maxAttempts || !SqlFailures.isConflict(e)) {
                    throw e;
                }
            }
        }
    }

    private <X extends Exception> boolean runOnce(
            TransactionRunner transactions, EventId id, EventWork<X> work, int attempt) throws X {
        return transactions.<Boolean, X>run(limits, transaction -> {
            Marks marks = store.mark(transaction, consumer, List.of(id));
            if (marks.fresh().isEmpty()) {
                return false;
            }
            work.run(new HandlerContext(consumer, id, transaction, attempt, keys));
            transaction.flush();
            store.confirm(transaction, marks);
            return true;
        });
    }

    /** Collects the options of {@link ProcessedEvents}. Not thread-safe. */
    public static final class Builder {
        private @Nullable ProcessedEventStore store;
        private @Nullable ConsumerId consumer;
        private @Nullable KeyDerivation keys;
        private TransactionLimits limits = TransactionLimits.ofDefaults();
        private int maxAttempts = 5;

        private Builder() {}

        /**
         * Sets where marks are kept. Required.
         *
         * @param store the store
         * @return this builder
         */
        public Builder store(ProcessedEventStore store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * Sets the consumer. Required.
         *
         * @param consumer the consumer's explicit, stable name
         * @return this builder
         */
        public Builder consumer(ConsumerId consumer) {
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            return this;
        }

        /**
         * Sets how the keys of outgoing calls are derived.
         *
         * @param keys the application's derivation; by default one under the consumer's name
         * @return this builder
         */
        public Builder keys(KeyDerivation keys) {
            this.keys = Objects.requireNonNull(keys, "keys");
            return this;
        }

        /**
         * Sets the bounds of waits in the transactions of {@link ProcessedEvents#processOnce}.
         *
         * @param limits the bounds; {@link TransactionLimits#ofDefaults()} by default
         * @return this builder
         */
        public Builder limits(TransactionLimits limits) {
            this.limits = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets how often {@link ProcessedEvents#processOnce} runs a transaction that keeps losing against concurrent ones.
         *
         * @param maxAttempts 1 to 100; 5 by default
         * @return this builder
         */
        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /**
         * Checks the options and makes the consumer known to the store.
         *
         * @return the events
         * @throws IllegalStateException if a required option is missing
         * @throws IllegalArgumentException if an option is out of range
         * @throws dev.idempotency.StoreUnavailableException if the store cannot be reached
         */
        public ProcessedEvents build() {
            if (maxAttempts < 1 || maxAttempts > 100) {
                throw new IllegalArgumentException("maxAttempts must be 1 to 100, but is " + maxAttempts);
            }
            ProcessedEventStore theStore = require("store", store);
            ConsumerId theConsumer = require("consumer", consumer);
            theStore.register(theConsumer);
            return new ProcessedEvents(this, theStore, theConsumer);
        }

        private static <T> T require(String option, @Nullable T value) {
            if (value == null) {
                throw new IllegalStateException("The option " + option + " is required: call " + option + "(...)");
            }
            return value;
        }
    }
}
