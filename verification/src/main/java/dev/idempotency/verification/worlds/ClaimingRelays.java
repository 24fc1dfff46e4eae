package dev.idempotency.verification.worlds;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** Relays that claim rows one by one, PENDING to PUBLISHING to PUBLISHED, send them and mark them. */
final class ClaimingRelays extends World {
    private static final int PASSES = 2;
    private static final int TRIES_TO_MARK = 2;

    private final int events;
    private final Map<Budget, Integer> budgets = new EnumMap<>(Budget.class);

    enum Status {
        PENDING,
        PUBLISHING,
        PUBLISHED
    }

    /**
     * A row of the outbox.
     *
     * @param token the token of its claim
     * @param lockedUntil when its claim is over, by the database's clock
     */
    record Row(Status status, long token, int lockedUntil) {}

    /** A claim's token and rows, and when the relay that made it takes it for over. */
    record Claimed(long token, List<String> cells, int validUntil) {
        @Override
        public String toString() {
            return cells.isEmpty() ? "no rows" : cells + " until " + validUntil;
        }
    }

    ClaimingRelays(String name, int relays, int events, SeededFault fault) {
        super(name, relays, fault);
        this.events = events;
    }

    ClaimingRelays with(Budget budget, int times) {
        budgets.put(budget, times);
        return this;
    }

    @Override
    Dialect dialect() {
        return Dialect.POSTGRESQL;
    }

    @Override
    String processName(int process) {
        return process == processes() ? "later     " : "relay " + (process + 1) + "   ";
    }

    @Override
    State begin() {
        State state = new State(processes());
        budgets.forEach(state::setBudget);
        state.changeRows(rows -> {
            for (int event = 1; event <= events; event++) {
                rows.put("outbox/" + event, new Row(Status.PENDING, 0, 0));
            }
        });
        return state;
    }

    @Override
    String run(Actor actor) {
        boolean all = false;
        for (int pass = 1; pass <= PASSES && !all; pass++) {
            all = new Pass(actor).run();
        }
        return all ? "nothing left" : "stopped";
    }

    /** One pass of a relay's loop, and of the marker that follows it. */
    private final class Pass {
        private final Actor actor;

        Pass(Actor actor) {
            this.actor = actor;
        }

        /** Returns true if there was nothing to do. */
        boolean run() {
            Claimed claimed;
            try {
                claimed = claim();
            } catch (DatabaseError e) {
                return false;
            }
            if (claimed.cells().isEmpty()) {
                return true;
            }
            List<String> sent = new ArrayList<>();
            List<String> unsent = new ArrayList<>();
            if (isSeeded(SeededFault.PUBLISHED_BEFORE_SENT)) {
                mark("mark as published", claimed.token(), claimed.cells(), Status.PUBLISHED);
            }
            for (String cell : claimed.cells()) {
                (send(cell, claimed.validUntil()) ? sent : unsent).add(cell);
            }
            mark("mark as published", claimed.token(), sent, Status.PUBLISHED);
            mark("give back", claimed.token(), unsent, Status.PENDING);
            return false;
        }

        private Claimed claim() {
            SimulatedTransaction transaction = actor.newTransaction();
            Claimed claimed = transaction.statement("claim", Claimed.class, sql -> {
                int clock = sql.state().now() + (isSeeded(SeededFault.RELAY_CLOCK) && actor.process() == 1 ? 1 : 0);
                List<String> cells = new ArrayList<>();
                for (Map.Entry<String, Object> each : sql.scan("outbox/").entrySet()) {
                    Row row = (Row) each.getValue();
                    boolean free = row.status() == Status.PENDING
                            || (row.status() == Status.PUBLISHING && row.lockedUntil() <= clock);
                    // SKIP LOCKED
                    if (free && !sql.isHeldByAnother(each.getKey())) {
                        cells.add(each.getKey());
                        sql.write(
                                each.getKey(),
                                new Row(
                                        Status.PUBLISHING,
                                        transaction.number(),
                                        sql.state().now() + 1));
                    }
                }
                return new Claimed(
                        transaction.number(), List.copyOf(cells), sql.state().now() + 1);
            });
            transaction.commit();
            return claimed;
        }

        /** The check and the send are one step: a send takes less time than the lease must have left. */
        private boolean send(String cell, int validUntil) {
            try {
                return Boolean.TRUE.equals(actor.step(new Pending("send " + cell, Pending.Kind.SEND, null, state -> {
                    boolean held = state.now() < validUntil;
                    if (held) {
                        state.appendOutside("broker", cell);
                    }
                    return held;
                })));
            } catch (DatabaseError e) {
                return false;
            }
        }

        /** A mark may be repeated, because the token makes the repetition hit nothing. */
        private void mark(String what, long token, List<String> cells, Status status) {
            if (cells.isEmpty()) {
                return;
            }
            for (int attempt = 1; attempt <= TRIES_TO_MARK; attempt++) {
                try {
                    SimulatedTransaction transaction = actor.newTransaction();
                    for (String cell : cells) {
                        transaction.statement(what + " " + cell, Boolean.class, sql -> mark(sql, cell, token, status));
                    }
                    transaction.commit();
                    return;
                } catch (DatabaseError e) {
                    // Tried again; what is never marked is sent again.
                }
            }
        }

        private boolean mark(Sql sql, String cell, long token, Status status) {
            sql.await(cell);
            Row row = sql.find(cell, Row.class);
            boolean held = row != null && row.status() == Status.PUBLISHING && row.token() == token;
            if (held || isSeeded(SeededFault.PUBLISHED_UNFENCED)) {
                sql.write(cell, new Row(status, token, 0));
            }
            return held;
        }
    }

    @Override
    @Nullable
    String checkMove(State before, State after) {
        SortedMap<String, Object> rows = before.rows("outbox/");
        for (Map.Entry<String, Object> each : rows.entrySet()) {
            Row then = (Row) after.rows().get(each.getKey());
            if (((Row) each.getValue()).status() == Status.PUBLISHED
                    && (then == null || then.status() != Status.PUBLISHED)) {
                return "A row that was published is not published any more: " + each.getKey();
            }
        }
        return null;
    }

    @Override
    @Nullable
    String check(State state) {
        List<?> broker = state.listOutside("broker");
        Set<Object> once = new HashSet<>();
        boolean undisturbed = state.budget(Budget.FAULTS) == budgets.getOrDefault(Budget.FAULTS, 0)
                && state.budget(Budget.EXPIRIES) == budgets.getOrDefault(Budget.EXPIRIES, 0);
        for (Object sent : broker) {
            if (!once.add(sent) && undisturbed) {
                return "The event " + sent + " was sent twice, and nothing had gone wrong";
            }
        }
        for (Map.Entry<String, Object> each : state.rows("outbox/").entrySet()) {
            if (((Row) each.getValue()).status() == Status.PUBLISHED && !once.contains(each.getKey())) {
                return "The event " + each.getKey() + " is marked as published, but the broker has not got it";
            }
        }
        return null;
    }

    @Override
    @Nullable
    String checkComeBack(State state, String result) {
        for (Map.Entry<String, Object> each : state.rows("outbox/").entrySet()) {
            if (((Row) each.getValue()).status() != Status.PUBLISHED) {
                return "the event " + each.getKey() + " was not published";
            }
        }
        return null;
    }
}
