package dev.idempotency.testkit.process;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.IdempotencyStore;
import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxPublisher;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxStore;
import dev.idempotency.spi.ProcessedEventStore;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import dev.idempotency.transaction.TransactionWork;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts named steps around real implementations of the SPIs; tests wrap what they hand to an engine.
 *
 * <p>The steps, in the order in which an operation passes them:
 *
 * <table>
 * <caption>Steps</caption>
 * <tr><th>step</th><th>protection</th><th>reached when</th></tr>
 * <tr><td>{@code operation.begun}</td><td>transactional</td><td>the transaction is open, nothing done in it</td></tr>
 * <tr><td>{@code operation.claiming}</td><td>both</td><td>before the claim</td></tr>
 * <tr><td>{@code operation.claimed}</td><td>both</td><td>the claim is acquired</td></tr>
 * <tr><td>{@code operation.effect-done}</td><td>both</td><td>the work has returned, before the completion</td></tr>
 * <tr><td>{@code operation.completed}</td><td>both</td><td>the completion is written; leased: and committed</td></tr>
 * <tr><td>{@code operation.committing}</td><td>transactional</td><td>before the commit</td></tr>
 * <tr><td>{@code operation.committed}</td><td>transactional</td><td>the commit has returned, nobody answered</td></tr>
 * <tr><td>{@code operation.extended}</td><td>leased</td><td>a heartbeat has been answered</td></tr>
 * <tr><td>{@code operation.released}</td><td>leased</td><td>the claim has been given back</td></tr>
 * </table>
 *
 * <p>Of events and outboxes (before the call, after it):
 *
 * <table>
 * <caption>Steps</caption>
 * <tr><th>call</th><th>before</th><th>after</th></tr>
 * <tr><td>mark</td><td>{@code event.marking}</td><td>{@code event.marked}</td></tr>
 * <tr><td>advance of offsets</td><td>{@code event.advancing}</td><td>{@code event.advanced}</td></tr>
 * <tr><td>confirm</td><td>{@code event.confirming}</td><td>{@code event.confirmed}</td></tr>
 * <tr><td>assign</td><td>{@code event.assigning}</td><td>{@code event.assigned}</td></tr>
 * <tr><td>park</td><td>{@code event.parking}</td><td>{@code event.parked}</td></tr>
 * <tr><td>append</td><td>{@code outbox.appending}</td><td>{@code outbox.appended}</td></tr>
 * <tr><td>acquire of leases</td><td>{@code outbox.acquiring}</td><td>{@code outbox.acquired}, if any</td></tr>
 * <tr><td>claim, lock or read of rows</td><td>{@code outbox.claiming}</td><td>{@code outbox.claimed}, if any</td></tr>
 * <tr><td>publish</td><td>{@code outbox.sending}</td><td>{@code outbox.sent}: answered, the relay does not know</td></tr>
 * <tr><td>markPublished</td><td>{@code outbox.marking}</td><td>{@code outbox.marked}</td></tr>
 * <tr><td>markFailed</td><td>{@code outbox.failing}</td><td>{@code outbox.failed}</td></tr>
 * </table>
 *
 * <p>The steps of a runner carry the prefix they are made with. The work names its own steps by calling {@link
 * Steps#reached(String)}.
 */
public final class Stepped {
    private static final Map<String, String> EVENT_STEPS = Map.of(
            "mark", "event.mark",
            "advance", "event.advance",
            "confirm", "event.confirm",
            "assign", "event.assign",
            "park", "event.park");

    private static final Map<String, String> OUTBOX_STEPS = Map.of(
            "append", "outbox.append",
            "appendNew", "outbox.append",
            "acquire", "outbox.acquire",
            "claim", "outbox.claim",
            "lock", "outbox.claim",
            "read", "outbox.claim",
            "markPublished", "outbox.mark",
            "markFailed", "outbox.fail");

    private Stepped() {}

    /**
     * Wraps a runner; its steps are {@code PREFIX.begun}, {@code PREFIX.committing} and {@code PREFIX.committed}.
     *
     * @param runner the real runner
     * @param prefix what the transactions are about, for instance {@code operation}, {@code event} or {@code outbox}
     * @param steps who is told
     * @return the runner with steps
     */
    public static TransactionRunner runner(TransactionRunner runner, String prefix, Steps steps) {
        return new SteppedRunner(runner, prefix, steps);
    }

    /**
     * Wraps a transactional store.
     *
     * @param store the real store
     * @param steps who is told
     * @return the store with steps, transactional only
     */
    public static TransactionalIdempotencyStore transactional(TransactionalIdempotencyStore store, Steps steps) {
        return new SteppedTransactionalStore(store, steps);
    }

    /**
     * Wraps a leased store.
     *
     * @param store the real store
     * @param steps who is told
     * @return the store with steps, leased only
     */
    public static LeasedIdempotencyStore leased(LeasedIdempotencyStore store, Steps steps) {
        return new SteppedLeasedStore(store, steps);
    }

    /**
     * Wraps a store of processed events with all its abilities.
     *
     * @param store the real store
     * @param steps who is told
     * @return the store with steps; it implements every interface that the real one does
     */
    public static ProcessedEventStore events(ProcessedEventStore store, Steps steps) {
        return proxy(ProcessedEventStore.class, store, EVENT_STEPS, steps);
    }

    /**
     * Wraps an outbox with all its abilities.
     *
     * @param <S> the ability that the caller uses
     * @param ability the ability's interface
     * @param store the real store
     * @param steps who is told
     * @return the store with steps; it implements every interface that the real one does
     */
    public static <S extends OutboxStore> S outbox(Class<S> ability, S store, Steps steps) {
        return proxy(ability, store, OUTBOX_STEPS, steps);
    }

    /**
     * Wraps a publisher.
     *
     * @param publisher the real publisher
     * @param steps who is told; {@code outbox.sent} on the publisher's own thread
     * @return the publisher with steps
     */
    public static OutboxPublisher publisher(OutboxPublisher publisher, Steps steps) {
        return new SteppedPublisher(publisher, steps);
    }

    private static <S> S proxy(Class<S> type, S target, Map<String, String> names, Steps steps) {
        Set<Class<?>> interfaces = new LinkedHashSet<>(Set.of(type));
        for (Class<?> of = target.getClass(); of != null; of = of.getSuperclass()) {
            interfaces.addAll(List.of(of.getInterfaces()));
        }
        interfaces.removeIf(each -> !Modifier.isPublic(each.getModifiers()));
        return type.cast(Proxy.newProxyInstance(
                Stepped.class.getClassLoader(), interfaces.toArray(Class<?>[]::new), (proxy, method, arguments) -> {
                    String verb = names.get(method.getName());
                    if (verb != null) {
                        steps.reached(before(verb));
                    }
                    Object result = call(target, method, arguments);
                    if (verb != null && !isEmpty(result)) {
                        steps.reached(after(verb));
                    }
                    return result;
                }));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw Objects.requireNonNullElse(thrown.getCause(), thrown);
        }
    }

    /** A claim that finds nothing is no claim; a relay makes one every second. */
    private static boolean isEmpty(@Nullable Object result) {
        return (result instanceof List<?> list && list.isEmpty())
                || (result instanceof OutboxClaim claim && claim.rows().isEmpty());
    }

    private static String before(String verb) {
        return (verb.endsWith("e") ? verb.substring(0, verb.length() - 1) : verb) + "ing";
    }

    private static String after(String verb) {
        return verb + (verb.endsWith("e") ? "d" : "ed");
    }

    private record SteppedPublisher(OutboxPublisher publisher, Steps steps) implements OutboxPublisher {
        @Override
        public void publish(OutboxRow row, PublishCallback callback) {
            steps.reached("outbox.sending");
            publisher.publish(row, (answered, outcome) -> {
                steps.reached("outbox.sent");
                callback.completed(answered, outcome);
            });
        }

        @Override
        public Duration deliveryTimeout() {
            return publisher.deliveryTimeout();
        }

        @Override
        public void recover() {
            publisher.recover();
        }

        @Override
        public void close() {
            publisher.close();
        }
    }

    private record SteppedRunner(TransactionRunner runner, String prefix, Steps steps) implements TransactionRunner {
        @Override
        public <T extends @Nullable Object, X extends Exception> T run(
                TransactionLimits limits, TransactionWork<T, X> work) throws X {
            T value = runner.<T, X>run(limits, transaction -> {
                steps.reached(prefix + ".begun");
                T result = work.run(transaction);
                steps.reached(prefix + ".committing");
                return result;
            });
            steps.reached(prefix + ".committed");
            return value;
        }
    }

    private abstract static class SteppedStore implements IdempotencyStore {
        private final IdempotencyStore store;
        final Steps steps;

        SteppedStore(IdempotencyStore store, Steps steps) {
            this.store = store;
            this.steps = steps;
        }

        final ClaimOutcome claimed(ClaimOutcome outcome) {
            if (outcome instanceof ClaimOutcome.Acquired) {
                steps.reached("operation.claimed");
            }
            return outcome;
        }

        @Override
        public final boolean forget(RecordId id) {
            return store.forget(id);
        }

        @Override
        public final int forgetCaller(Scope caller, int limit) {
            return store.forgetCaller(caller, limit);
        }

        @Override
        public final int deleteExpired(int limit) {
            return store.deleteExpired(limit);
        }
    }

    private static final class SteppedTransactionalStore extends SteppedStore implements TransactionalIdempotencyStore {
        private final TransactionalIdempotencyStore store;

        SteppedTransactionalStore(TransactionalIdempotencyStore store, Steps steps) {
            super(store, steps);
            this.store = store;
        }

        @Override
        public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
            steps.reached("operation.claiming");
            return claimed(store.claim(transaction, request));
        }

        @Override
        public void complete(Transaction transaction, Claim claim, RecordedResult result) {
            steps.reached("operation.effect-done");
            store.complete(transaction, claim, result);
            steps.reached("operation.completed");
        }
    }

    private static final class SteppedLeasedStore extends SteppedStore implements LeasedIdempotencyStore {
        private final LeasedIdempotencyStore store;

        SteppedLeasedStore(LeasedIdempotencyStore store, Steps steps) {
            super(store, steps);
            this.store = store;
        }

        @Override
        public ClaimOutcome claim(ClaimRequest request, Duration leaseDuration) {
            steps.reached("operation.claiming");
            return claimed(store.claim(request, leaseDuration));
        }

        @Override
        public boolean extend(Claim claim, Duration leaseDuration) {
            boolean extended = store.extend(claim, leaseDuration);
            steps.reached("operation.extended");
            return extended;
        }

        @Override
        public boolean complete(Claim claim, RecordedResult result) {
            steps.reached("operation.effect-done");
            boolean completed = store.complete(claim, result);
            steps.reached("operation.completed");
            return completed;
        }

        @Override
        public boolean release(Claim claim) {
            boolean released = store.release(claim);
            steps.reached("operation.released");
            return released;
        }
    }
}
