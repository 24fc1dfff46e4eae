package dev.idempotency.verification.matrix;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.LeaseSettings;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.testkit.process.Steps;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** An operation whose work inserts a row and, where there is a transaction, appends an event; called without HTTP. */
class OperationSubject extends Subject {
    private static final String PENDING = "SELECT count(*) FROM outbox_event WHERE msg_key = ?";
    private static final Duration LEASE = Duration.ofHours(1);

    private final Protection protection;
    private final AbandonedPolicy policy;

    OperationSubject(Protection protection, AbandonedPolicy policy, Dialect dialect) {
        this("operation", protection, policy, dialect);
    }

    OperationSubject(String adapter, Protection protection, AbandonedPolicy policy, Dialect dialect) {
        super(adapter + " " + name(protection, policy), dialect);
        this.protection = protection;
        this.policy = policy;
    }

    private static String name(Protection protection, AbandonedPolicy policy) {
        String text = protection.name().toLowerCase(Locale.ROOT);
        return protection == Protection.TRANSACTIONAL
                ? text
                : text + " " + policy.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    final boolean isTransactional() {
        return protection == Protection.TRANSACTIONAL;
    }

    final Protection protection() {
        return protection;
    }

    @Override
    final List<String> steps(Crash crash) {
        List<String> steps = new ArrayList<>();
        if (isTransactional()) {
            steps.addAll(List.of(
                    "operation.begun",
                    "operation.claiming",
                    "operation.claimed",
                    "outbox.appending",
                    "outbox.appended",
                    "work.done",
                    "operation.effect-done",
                    "operation.completed",
                    "operation.committing"));
        } else {
            steps.addAll(List.of("operation.claiming", "operation.claimed", "work.done", "operation.effect-done"));
        }
        if (crash.needsProcess()) {
            steps.add(isTransactional() ? "operation.committed" : "operation.completed");
        }
        boolean possible = switch (crash) {
            case BROKER_CUT -> false;
            // Between two steps of its own, a leased operation holds no connection that could be cut.
            case CUT -> isTransactional();
            case STOP -> dialect() == Dialect.POSTGRESQL;
            default -> true;
        };
        return possible ? steps : List.of();
    }

    @Override
    Set<String> usualSteps(Crash crash) {
        if (!crash.needsProcess()) {
            return Set.copyOf(steps(crash));
        }
        if (crash == Crash.STOP) {
            return Set.of("operation.effect-done");
        }
        return isTransactional()
                ? Set.of("operation.claimed", "operation.completed", "operation.committed")
                : Set.of("work.done", "operation.completed");
    }

    @Override
    Service serve(Site site, Steps steps, Mutant mutant) throws Exception {
        return serve(site, steps, mutant, Work.Habit.GOOD);
    }

    final Service serve(Site site, Steps steps, Mutant mutant, Work.Habit habit) {
        Idempotency idempotency = engine(site, steps, mutant);
        Work work = new Work(site, steps, mutant, habit);
        return new Service() {
            @Override
            public Reply call(String key) {
                return OperationSubject.this.call(idempotency, work, key);
            }

            @Override
            public void close() {
                idempotency.close();
            }
        };
    }

    final Idempotency engine(Site site, Steps steps, Mutant mutant) {
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(site.dataSource());
        return Idempotency.builder()
                .transactional(
                        Stepped.transactional(mutant.transactional(store), steps),
                        Stepped.runner(
                                mutant.runner(JdbiTransactionRunner.of(site.dataSource()), site), "operation", steps))
                .limits(mutant.limits(LIMITS))
                .leased(Stepped.leased(mutant.leased(store, site), steps))
                .lease(new LeaseSettings(LEASE, LEASE))
                .build();
    }

    private Reply call(Idempotency idempotency, Work work, String key) {
        RecordId id = new RecordId(Scope.shared("order"), IdempotencyKey.of(key));
        Operation operation = Operation.of(id, Fingerprint.none(), protection).withAbandoned(policy);
        try {
            return reply(idempotency.<SQLException>execute(operation, context -> {
                work.run(key, context);
                return new WorkResult.Succeeded(
                        new RecordedResult.Replayable(201, new byte[0], key.getBytes(StandardCharsets.UTF_8)));
            }));
        } catch (IdempotencyException | SQLException e) {
            return Reply.again(e);
        }
    }

    private static Reply reply(OperationOutcome outcome) {
        String text = outcome.getClass().getSimpleName();
        if (outcome instanceof OperationOutcome.Executed) {
            return new Reply(Reply.Kind.EXECUTED, text);
        }
        if (outcome instanceof OperationOutcome.Replayed) {
            return new Reply(Reply.Kind.REPLAYED, text);
        }
        boolean over = outcome instanceof OperationOutcome.Abandoned
                || outcome instanceof OperationOutcome.Unavailable
                || outcome instanceof OperationOutcome.Mismatch
                || outcome instanceof OperationOutcome.Expired;
        return over ? new Reply(Reply.Kind.REFUSED, text) : Reply.again(outcome);
    }

    @Override
    void endLeases(Trial trial, boolean isOwnerGone) {
        if (!isTransactional()) {
            String earlier =
                    trial.site().isPostgreSql() ? "lease_until - interval '2 hours'" : "DATEADD(HOUR, -2, lease_until)";
            Object key = trial.site().isPostgreSql() ? trial.key() : trial.key().getBytes(StandardCharsets.US_ASCII);
            Sql.update(
                    trial.database(),
                    "UPDATE idempotency_record SET lease_until = " + earlier
                            + " WHERE idempotency_key = ? AND status = 1",
                    key);
        }
    }

    @Override
    Optional<String> check(Trial trial) {
        int effects = Sql.effects(trial.database(), trial.key(), Work.ITEM);
        if (trial.isAcknowledged() && effects == 0) {
            return Optional.of("acknowledged, but not committed");
        }
        if (trial.count(Reply.Kind.EXECUTED) > 1) {
            return Optional.of("two calls were told that they did it");
        }
        if (effects > most(trial)) {
            return Optional.of(effects + " effects of one key");
        }
        if (isTransactional()) {
            int events = Sql.number(trial.database(), PENDING, trial.key().getBytes(StandardCharsets.US_ASCII));
            return events == effects
                    ? Optional.empty()
                    : Optional.of(effects + " effects, but " + events + " events in the outbox");
        }
        String derived = "SELECT count(DISTINCT derived_key) FROM effect WHERE case_key = ?";
        return Sql.number(trial.database(), derived, trial.key()) > 1
                ? Optional.of("repeated work does not use the same derived key")
                : Optional.empty();
    }

    /** Under LEASED with "run again", the work of an owner that vanished may have had its effect, if it had begun. */
    private int most(Trial trial) {
        boolean mayHaveRun = !isNeverClaimed(trial) && !trial.crashedAt("operation.claimed", Crash.HALT);
        return !isTransactional() && policy == AbandonedPolicy.RUN_AGAIN && mayHaveRun ? 2 : 1;
    }

    /** Whether the claim's statement has not arrived for certain. */
    private static boolean isNeverClaimed(Trial trial) {
        return trial.crashedAt("operation.claiming", Crash.HALT, Crash.CUT, Crash.UNREACHABLE);
    }

    @Override
    Optional<String> checkSettled(Trial trial, Reply last) {
        if (last.isAcknowledged()) {
            return Optional.empty();
        }
        boolean mayStayUnknown =
                !isTransactional() && policy == AbandonedPolicy.REPORT_UNKNOWN && !isNeverClaimed(trial);
        if (!mayStayUnknown) {
            return Optional.of("a repeat was refused: " + last.text());
        }
        return trial.isAcknowledged() ? Optional.of("acknowledged, and then " + last.text()) : Optional.empty();
    }

    @Override
    Optional<String> checkWhileStopped(String step, Reply reply) {
        boolean isClaimed = !isTransactional() && !step.equals("operation.claiming");
        return isClaimed && reply.kind() == Reply.Kind.EXECUTED
                ? Optional.of("the work ran while another owner's lease was valid")
                : Optional.empty();
    }
}
