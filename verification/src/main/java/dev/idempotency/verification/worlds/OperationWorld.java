package dev.idempotency.verification.worlds;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.LeaseSettings;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.TransactionLostException;
import dev.idempotency.WorkResult;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.verification.worlds.OperationStore.Row;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Clients that call an operation under a key until they are answered: the product's engines on a simulated store.
 *
 * <p>A client here is one request handler together with the client it answers: when it dies, the client sends the request
 * again with the same key.
 */
final class OperationWorld extends World {
    private static final String ANSWERED = "answered";

    private final Setup setup;
    private final Map<RecordId, String> cells = new HashMap<>();

    /** Where the claims are made. */
    enum Kind {
        POSTGRESQL,
        H2,
        LEASED
    }

    /** What the work does. */
    enum Work {
        SUCCEEDS,
        /** Refuses the request for good: the answer is kept, the effect is not. */
        REFUSES,
        /** Succeeds with an answer that cannot be given again. */
        ANSWERS_ONCE,
        /** A statement of it may fail, and it goes on as if nothing had happened. */
        SWALLOWS_ERRORS,
        /** It may send a ROLLBACK as text, unseen by the guarded connection. */
        ROLLS_BACK,
        /** Its first run in each life fails before the effect and says so. */
        FAILS_FIRST
    }

    /**
     * What a world of operations is made of.
     *
     * @param kind where the claims are made
     * @param work what the work does
     * @param abandoned what becomes of a claim whose lease is over
     * @param ids under what each client calls
     * @param attempts how often a client calls in one life
     * @param budgets what may go wrong
     */
    record Setup(
            String name,
            Kind kind,
            Work work,
            AbandonedPolicy abandoned,
            List<RecordId> ids,
            int attempts,
            Map<Budget, Integer> budgets) {
        static Setup of(String name, Kind kind, int clients) {
            return new Setup(
                    name,
                    kind,
                    Work.SUCCEEDS,
                    AbandonedPolicy.REPORT_UNKNOWN,
                    Collections.nCopies(clients, id("charge", "key")),
                    2,
                    Map.of());
        }

        Setup doing(Work other) {
            return new Setup(name, kind, other, abandoned, ids, attempts, budgets);
        }

        Setup runningAbandonedAgain() {
            return new Setup(name, kind, work, AbandonedPolicy.RUN_AGAIN, ids, attempts, budgets);
        }

        Setup under(RecordId... other) {
            return new Setup(name, kind, work, abandoned, List.of(other), attempts, budgets);
        }

        Setup calling(int times) {
            return new Setup(name, kind, work, abandoned, ids, times, budgets);
        }

        Setup with(Budget budget, int times) {
            EnumMap<Budget, Integer> more = new EnumMap<>(Budget.class);
            more.putAll(budgets);
            more.put(budget, times);
            return new Setup(name, kind, work, abandoned, ids, attempts, more);
        }
    }

    static RecordId id(String operation, String key) {
        return new RecordId(Scope.shared(operation), IdempotencyKey.of(key));
    }

    OperationWorld(Setup setup, SeededFault fault) {
        super(setup.name(), setup.ids().size(), fault);
        this.setup = setup;
        OperationStore store = new PostgreSqlOperations(new Actor(0, 0, List.of(), List.of()), fault);
        setup.ids().forEach(id -> cells.put(id, store.cell(id)));
    }

    private boolean isLeased() {
        return setup.kind() == Kind.LEASED;
    }

    @Override
    Dialect dialect() {
        return setup.kind() == Kind.H2 ? Dialect.H2 : Dialect.POSTGRESQL;
    }

    @Override
    boolean waitsAreBounded() {
        return !isSeeded(SeededFault.LOCK_WAIT_UNBOUNDED);
    }

    @Override
    boolean idleTransactionsEnd() {
        return !isSeeded(SeededFault.IDLE_UNBOUNDED);
    }

    @Override
    boolean deathIsNoticed() {
        return !isSeeded(SeededFault.DEATH_UNNOTICED);
    }

    @Override
    String processName(int process) {
        return process == processes() ? "later     " : "client " + (process + 1) + "  ";
    }

    @Override
    State begin() {
        State state = new State(processes());
        setup.budgets().forEach(state::setBudget);
        return state;
    }

    @Override
    String run(Actor actor) {
        if (actor.process() < processes()) {
            return callUntilAnswered(actor, setup.ids().get(actor.process()));
        }
        String result = ANSWERED;
        for (RecordId id : List.copyOf(new LinkedHashSet<>(setup.ids()))) {
            String each = callUntilAnswered(actor, id);
            result = each.equals(ANSWERED) ? result : each;
        }
        return result;
    }

    private String callUntilAnswered(Actor actor, RecordId id) {
        String last = "";
        for (int attempt = 1; attempt <= setup.attempts(); attempt++) {
            last = new Call(actor, id, attempt).run();
            if (last.equals(ANSWERED) || last.equals("abandoned")) {
                return last;
            }
        }
        return last;
    }

    /** One request: a process that receives it, runs the engine and answers. */
    private final class Call {
        private final Actor actor;
        private final RecordId id;
        private final int attempt;
        private @Nullable LeasedOperations leased;
        private String lastRun = "";
        private boolean answered;

        Call(Actor actor, RecordId id, int attempt) {
            this.actor = actor;
            this.id = id;
            this.attempt = attempt;
        }

        String run() {
            Operation operation = Operation.of(
                            id, Fingerprint.none(), isLeased() ? Protection.LEASED : Protection.TRANSACTIONAL)
                    .withAbandoned(setup.abandoned())
                    .asRepeatable();
            try (Idempotency idempotency = engine()) {
                return told(idempotency.execute(operation, this::work));
            } catch (TransactionLostException e) {
                if (setup.work() == Work.SWALLOWS_ERRORS || setup.work() == Work.ROLLS_BACK) {
                    return "the work was told of its defect";
                }
                throw e;
            } catch (SQLException e) {
                return "the work failed: " + e.getMessage();
            }
        }

        private Idempotency engine() {
            Idempotency.Builder builder = Idempotency.builder();
            if (isLeased()) {
                LeasedOperations store = new LeasedOperations(actor, fault);
                leased = store;
                // So long that no heartbeat of the machine's clock ever beats: the work calls for it below.
                return builder.leased(store)
                        .lease(new LeaseSettings(Duration.ofHours(20), Duration.ofHours(20)))
                        .build();
            }
            TransactionalIdempotencyStore store =
                    setup.kind() == Kind.H2 ? new H2Operations(actor, fault) : new PostgreSqlOperations(actor, fault);
            return builder.transactional(store, new SimulatedRunner(actor, fault))
                    .build();
        }

        private WorkResult work(IdempotencyContext context) throws SQLException {
            if (isLeased()) {
                return leasedWork(context);
            }
            SimulatedTransaction transaction =
                    context.transaction().orElseThrow().unwrap(SimulatedTransaction.class);
            lastRun = transaction.id();
            try {
                effect(transaction);
                misbehave(transaction);
            } catch (DatabaseError e) {
                throw e.asSqlException();
            }
            if (isSeeded(SeededFault.ANSWER_BEFORE_COMMIT)) {
                answer(lastRun);
            }
            return result();
        }

        private void effect(SimulatedTransaction transaction) {
            String cell = "effect/" + name(id) + "/" + transaction.id();
            if (isSeeded(SeededFault.EFFECT_IN_OTHER_TRANSACTION)) {
                actor.outside("effect on another connection", state -> state.changeRows(rows -> rows.put(cell, "")));
                return;
            }
            String record = cells.get(id);
            transaction.work("effect", sql -> {
                if (sql.state().rows().get(record) instanceof Row row && row.result() != null) {
                    sql.state().violate("The work of a duplicate ran although a completed record was committed (T4)");
                }
                sql.insert(cell, "");
                return null;
            });
        }

        private void misbehave(SimulatedTransaction transaction) {
            if (setup.work() == Work.SWALLOWS_ERRORS && attempt == 1) {
                try {
                    transaction.work("a statement that may fail", sql -> {
                        if (sql.state().life(0) == 0 && actor.process() < processes()) {
                            throw new DatabaseError(DatabaseError.Kind.DUPLICATE_KEY);
                        }
                        return null;
                    });
                } catch (DatabaseError e) {
                    // That is its defect.
                }
            } else if (setup.work() == Work.ROLLS_BACK && attempt == 1 && actor.process() < processes()) {
                transaction.work("ROLLBACK as text", sql -> {
                    sql.restart();
                    return null;
                });
            }
        }

        private WorkResult leasedWork(IdempotencyContext context) {
            lastRun = (actor.process() + 1) + "'".repeat(actor.life()) + "/" + attempt;
            if (setup.work() == Work.FAILS_FIRST && attempt == 1 && actor.life() == 0) {
                context.markNoEffect();
                return new WorkResult.Failed(new RecordedResult.NotReplayable(0, "nothing happened"));
            }
            actor.outside(
                    "effect outside of the database", state -> state.appendOutside("effect/" + name(id), lastRun));
            LeasedOperations store = leased;
            if (store != null) {
                store.held().ifPresent(claim -> beat(store, claim));
            }
            return result();
        }

        /** Does what the heartbeat's thread does, whose failures are for the next beat to cure. */
        private void beat(LeasedOperations store, dev.idempotency.spi.Claim claim) {
            try {
                store.extend(claim, Duration.ofHours(20));
            } catch (dev.idempotency.IdempotencyException e) {
                // As the heartbeat does.
            }
        }

        private WorkResult result() {
            if (setup.work() == Work.ANSWERS_ONCE) {
                return new WorkResult.Succeeded(new RecordedResult.NotReplayable(0, lastRun));
            }
            RecordedResult answer =
                    new RecordedResult.Replayable(200, new byte[0], lastRun.getBytes(StandardCharsets.US_ASCII));
            return setup.work() == Work.REFUSES ? new WorkResult.Refused(answer) : new WorkResult.Succeeded(answer);
        }

        private String told(OperationOutcome outcome) {
            if (outcome instanceof OperationOutcome.Executed executed) {
                if (executed.result() instanceof WorkResult.Failed) {
                    return "failed without effect";
                }
                return answer(lastRun);
            }
            if (outcome instanceof OperationOutcome.Replayed replayed) {
                return answer(new String(replayed.result().body(), StandardCharsets.US_ASCII));
            }
            if (outcome instanceof OperationOutcome.Unavailable unavailable) {
                return answer(unavailable.result().reason());
            }
            if (outcome instanceof OperationOutcome.Abandoned) {
                return "abandoned";
            }
            if (outcome instanceof OperationOutcome.NotCommitted && !isLeased()) {
                String run = lastRun;
                actor.outside("tells that " + run + " was not committed", state -> state.putOutside("told/" + run, ""));
            }
            return outcome.getClass().getSimpleName();
        }

        private String answer(String text) {
            if (!answered) {
                answered = true;
                actor.outside(
                        "answers: done by " + text,
                        state -> state.putOutside("answer/" + name(id) + "/" + actor.process(), text));
            }
            return ANSWERED;
        }
    }

    private static String name(RecordId id) {
        return id.scope().operation() + "=" + id.key().value();
    }

    @Override
    @Nullable
    String check(State state) {
        for (RecordId id : setup.ids()) {
            String wrong = check(state, id);
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    private @Nullable String check(State state, RecordId id) {
        List<String> effects = effects(state, id);
        if (effects.size() > mostEffects(state)) {
            return effects.size() + " effects under one key: " + effects;
        }
        Row record = (Row) state.rows().get(cells.get(id));
        String recorded = record == null || record.result() == null ? null : executor(record.result());
        if (recorded != null && setup.work() != Work.REFUSES && !effects.contains(recorded) && isOnlyOne(id)) {
            return "The record says that " + recorded + " has done it, but its effect is not there";
        }
        if (!isLeased() && !effects.isEmpty() && recorded == null) {
            return "The effect of " + effects + " is committed without a record";
        }
        for (Map.Entry<String, Object> answer :
                state.outside("answer/" + name(id) + "/").entrySet()) {
            if (!answer.getValue().equals(recorded)) {
                return "A client was told that " + answer.getValue() + " has done it, but the record says " + recorded;
            }
            if (setup.work() != Work.REFUSES && !effects.contains(answer.getValue())) {
                return "A client was told that " + answer.getValue()
                        + " has done it, but under his key there is no such effect";
            }
        }
        for (String run : effects) {
            if (state.outside().containsKey("told/" + run)) {
                return "A client was told that nothing of " + run + " was committed, but it was";
            }
        }
        return null;
    }

    /** Under LEASED with RUN_AGAIN a lease that ends may cost an effect more; that is what this policy says. */
    private int mostEffects(State state) {
        boolean again = isLeased() && setup.abandoned() == AbandonedPolicy.RUN_AGAIN;
        return again ? 1 + Math.min(state.now(), 2) : 1;
    }

    private boolean isOnlyOne(RecordId id) {
        return setup.ids().stream().allMatch(id::equals);
    }

    private static String executor(RecordedResult result) {
        return result instanceof RecordedResult.Replayable replayable
                ? new String(replayable.body(), StandardCharsets.US_ASCII)
                : ((RecordedResult.NotReplayable) result).reason();
    }

    private List<String> effects(State state, RecordId id) {
        if (isLeased()) {
            return state.listOutside("effect/" + name(id)).stream()
                    .map(String.class::cast)
                    .toList();
        }
        String prefix = "effect/" + name(id) + "/";
        return state.rows(prefix).keySet().stream()
                .map(cell -> cell.substring(prefix.length()))
                .toList();
    }

    @Override
    @Nullable
    String checkComeBack(State state, String result) {
        boolean mayBeAbandoned = isLeased() && setup.abandoned() == AbandonedPolicy.REPORT_UNKNOWN;
        if (result.equals("abandoned") && mayBeAbandoned) {
            return null;
        }
        return result.equals(ANSWERED) ? null : "he was told: " + result;
    }
}
