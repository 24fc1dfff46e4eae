package dev.idempotency.verification.matrix;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.Protection;
import dev.idempotency.StoreConflictException;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Cases in which nobody crashes, for rules that a real database shows without. */
final class Undisturbed {
    private static final OperationSubject TRANSACTIONAL =
            new OperationSubject(Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, Dialect.POSTGRESQL);
    /** Long enough for the server to look for deadlocks first, which it does after a second. */
    private static final TransactionLimits PATIENT =
            TransactionLimits.ofDefaults().withLockWait(Duration.ofSeconds(8));

    private Undisturbed() {}

    /** Work that swallows an SQL error leaves a transaction that PostgreSQL rolls back, and nobody may be told otherwise. */
    static Optional<String> swallowedError(Bench bench, Mutant mutant) throws Exception {
        Trial trial = trial(bench, bench.newKey());
        try (Service service = TRANSACTIONAL.serve(trial.site(), step -> {}, mutant, Work.Habit.SWALLOWS_ERRORS)) {
            trial.heard(service.call(trial.key()));
        }
        return TRANSACTIONAL.check(trial);
    }

    /** Two keys that differ in case are two operations. */
    static Optional<String> twoCases(Bench bench, Mutant mutant) throws Exception {
        String key = bench.newKey();
        for (String each : List.of(key, key.toUpperCase(Locale.ROOT))) {
            Trial trial = trial(bench, each);
            try (Service service = TRANSACTIONAL.serve(trial.site(), step -> {}, mutant)) {
                trial.heard(service.call(each));
            }
            Optional<String> wrong = TRANSACTIONAL.check(trial);
            if (wrong.isPresent()) {
                return Optional.of("the key " + each + " is " + wrong.get());
            }
        }
        return Optional.empty();
    }

    private static Trial trial(Bench bench, String key) {
        return new Trial(key, bench.site(TRANSACTIONAL.dialect()), bench, Optional.empty());
    }

    /** Two transactions that mark the same events, delivered in two orders, wait for each other but not in a circle. */
    static Optional<String> twoOrders(Bench bench, Mutant mutant) throws Exception {
        Site site = bench.site(Dialect.POSTGRESQL).undisturbed();
        JdbiEventStore store = JdbiEventStore.of(site.dataSource());
        JdbiTransactionRunner runner = JdbiTransactionRunner.of(site.dataSource());
        ConsumerId consumer = ConsumerId.of("two-orders");
        store.register(consumer);
        String key = bench.newKey();
        EventId first = EventId.of(key + "-a");
        EventId second = EventId.of(key + "-b");
        CyclicBarrier both = new CyclicBarrier(2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (List<EventId> order : List.of(List.of(first, second), List.of(second, first))) {
                running.add(threads.submit(() -> runner.<Boolean, Exception>run(PATIENT, transaction -> {
                    if (mutant == Mutant.UNSORTED) {
                        store.mark(transaction, consumer, order.subList(0, 1));
                        both.await(20, TimeUnit.SECONDS);
                        store.mark(transaction, consumer, order.subList(1, 2));
                    } else {
                        both.await(20, TimeUnit.SECONDS);
                        store.mark(transaction, consumer, order);
                    }
                    return true;
                })));
            }
            return conflict(running);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Optional<String> conflict(List<Future<?>> running) throws Exception {
        Optional<String> found = Optional.empty();
        for (Future<?> each : running) {
            try {
                each.get(60, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof StoreConflictException)) {
                    throw e;
                }
                found = Optional.of(String.valueOf(e.getCause().getCause())
                        .lines()
                        .findFirst()
                        .orElse(""));
            }
        }
        return found;
    }
}
