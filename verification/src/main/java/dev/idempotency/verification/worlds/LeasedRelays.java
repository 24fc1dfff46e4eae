package dev.idempotency.verification.worlds;

import dev.idempotency.spi.LowWaterMark;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Relays that lease a range of buckets and read it behind a low-water mark, beside transactions that append. */
final class LeasedRelays extends World {
    private static final String PAUSED = "paused";

    private final Setup setup;

    /**
     * What a world of leased relays is made of.
     *
     * @param appenders for each business transaction process, the ordering keys of the events it appends one after another
     * @param present the ordering keys of the events that are there at the begin
     * @param relays how many relays there are
     * @param passes how often each looks
     * @param pausing whether somebody pauses the topic and resumes it
     * @param budgets what may go wrong
     */
    record Setup(
            String name,
            List<String> appenders,
            String present,
            int relays,
            int passes,
            boolean pausing,
            Map<Budget, Integer> budgets) {
        static Setup of(String name, int relays, int passes) {
            return new Setup(name, List.of(), "", relays, passes, false, Map.of());
        }

        Setup appending(String... keys) {
            return new Setup(name, List.of(keys), present, relays, passes, pausing, budgets);
        }

        Setup holding(String keys) {
            return new Setup(name, appenders, keys, relays, passes, pausing, budgets);
        }

        Setup pausingAndResuming() {
            return new Setup(name, appenders, present, relays, passes, true, budgets);
        }

        private int processes() {
            return appenders.size() + relays + (pausing ? 1 : 0);
        }

        Setup with(Budget budget, int times) {
            EnumMap<Budget, Integer> more = new EnumMap<>(Budget.class);
            more.putAll(budgets);
            more.put(budget, times);
            return new Setup(name, appenders, present, relays, passes, pausing, more);
        }
    }

    /** A row of the outbox that is to be published; it is deleted when it has been. */
    record Row(long sequence, char key) {}

    /** Who holds the range. */
    record Lease(int owner, long epoch, int until) {}

    /** What became of one row of a batch. */
    private enum Turn {
        SENT,
        RESTING,
        PASSED
    }

    /** What one snapshot shows of the outbox. */
    record Horizon(long oldestRunning, long nextXid, long firstLive) {}

    LeasedRelays(Setup setup, SeededFault fault) {
        super(setup.name(), setup.processes(), fault);
        this.setup = setup;
    }

    private boolean isAppender(int process) {
        return process < setup.appenders().size();
    }

    /** The last process, where there is one. */
    private boolean isOperator(int process) {
        return setup.pausing() && process == processes() - 1;
    }

    @Override
    Dialect dialect() {
        return Dialect.POSTGRESQL;
    }

    @Override
    String processName(int process) {
        if (process == processes()) {
            return "later     ";
        }
        if (isOperator(process)) {
            return "operator  ";
        }
        return isAppender(process)
                ? "writer " + (process + 1) + "  "
                : "relay " + (process + 1 - setup.appenders().size()) + "   ";
    }

    @Override
    State begin() {
        State state = new State(processes());
        setup.budgets().forEach(state::setBudget);
        state.changeRows(rows -> {
            rows.put("lease", new Lease(-1, 0, 0));
            for (int i = 0; i < setup.present().length(); i++) {
                rows.put("outbox/" + (i + 1), new Row(i + 1, setup.present().charAt(i)));
            }
            rows.put("sequence/outbox", (long) setup.present().length());
        });
        return state;
    }

    @Override
    String run(Actor actor) {
        if (isOperator(actor.process())) {
            return pauseAndResume(actor);
        }
        return isAppender(actor.process()) ? append(actor) : new Relay(actor).run();
    }

    private static String pauseAndResume(Actor actor) {
        if (actor.life() > 0) {
            return "gone";
        }
        actor.outside("pauses the topic", state -> state.putOutside(PAUSED, true));
        actor.outside("resumes the topic", state -> state.removeOutside(PAUSED));
        return "done";
    }

    /** One business transaction after another, as the aggregate's lock makes them; a lost one is not repeated. */
    private String append(Actor actor) {
        if (actor.life() > 0) {
            return "gone";
        }
        for (char key : setup.appenders().get(actor.process()).toCharArray()) {
            SimulatedTransaction transaction = actor.newTransaction();
            try {
                if (isSeeded(SeededFault.NUMBER_BEFORE_ID)) {
                    long number =
                            transaction.statement("append: draws a number", Long.class, sql -> sql.next("outbox"));
                    transaction.statement("append: takes a transaction id, inserts", sql -> {
                        sql.xid();
                        insert(sql, number, key);
                        return null;
                    });
                } else {
                    transaction.statement("append: takes a transaction id", Long.class, Sql::xid);
                    transaction.statement("append: draws a number, inserts", Long.class, sql -> {
                        long number = sql.next("outbox");
                        insert(sql, number, key);
                        return number;
                    });
                }
                transaction.commit();
            } catch (DatabaseError e) {
                return "failed";
            }
        }
        return "done";
    }

    private static void insert(Sql sql, long number, char key) {
        sql.insert("outbox/" + number, new Row(number, key));
    }

    /** A relay's loop, its marker, and the keeper of its leases, one after the other. */
    private final class Relay {
        private final Actor actor;
        private LowWaterMark mark = LowWaterMark.unknown();
        private long epoch;
        private int validUntil = -1;

        Relay(Actor actor) {
            this.actor = actor;
        }

        String run() {
            int passes = actor.process() == processes() ? 3 : setup.passes();
            for (int pass = 1; pass <= passes; pass++) {
                try {
                    if (keepLease()) {
                        advance();
                        publish();
                    }
                } catch (DatabaseError e) {
                    // What a relay knew may be another database's: it begins anew.
                    mark = LowWaterMark.unknown();
                }
            }
            return "done";
        }

        private boolean keepLease() {
            SimulatedTransaction transaction = actor.newTransaction();
            int me = actor.process();
            long held = epoch;
            Lease lease = transaction.statement("lease", Lease.class, sql -> {
                sql.await("lease");
                Lease present = sql.find("lease", Lease.class);
                if (present == null) {
                    throw new IllegalStateException("There is no lease");
                }
                int now = sql.state().now();
                boolean renewed = present.owner() == me && present.epoch() == held && present.until() > now;
                if (renewed || present.until() <= now) {
                    Lease taken = new Lease(me, renewed ? held : present.epoch() + 1, now + 1);
                    sql.write("lease", taken);
                    return taken;
                }
                return present;
            });
            transaction.commit();
            epoch = lease.epoch();
            validUntil = lease.owner() == me ? lease.until() : -1;
            return lease.owner() == me;
        }

        /** The snapshot, the sequence, which is read as it is, and then an id of its own: in this order and no other. */
        private void advance() {
            SimulatedTransaction transaction = actor.newTransaction();
            long from = mark.firstLive();
            Horizon horizon = transaction.statement("look at the horizon", Horizon.class, sql -> horizon(sql, from));
            long lastDrawn = transaction.statement("look at the sequence", Long.class, sql -> sql.lastDrawn("outbox"));
            boolean bySnapshot = isSeeded(SeededFault.MARK_BY_SNAPSHOT);
            boolean passed = mark.candidate() > 0
                    && (bySnapshot ? horizon.oldestRunning() >= mark.fence() : horizon.oldestRunning() > mark.fence());
            long visibleBelow = passed ? Math.max(mark.visibleBelow(), mark.candidate()) : mark.visibleBelow();
            long firstLive = Math.max(from, Math.min(horizon.firstLive(), visibleBelow));
            if (mark.candidate() > 0 && !passed) {
                mark = new LowWaterMark(firstLive, visibleBelow, mark.candidate(), mark.fence());
            } else if (lastDrawn < visibleBelow) {
                mark = new LowWaterMark(firstLive, visibleBelow, 0, 0);
            } else {
                long fence = bySnapshot
                        ? horizon.nextXid()
                        : transaction.statement("take a transaction id", Long.class, Sql::xid);
                mark = new LowWaterMark(firstLive, visibleBelow, lastDrawn + 1, fence);
            }
            transaction.commit();
            believe(mark.firstLive(), mark.visibleBelow());
        }

        private void believe(long firstLive, long visibleBelow) {
            if (firstLive > 0 || visibleBelow > 0) {
                int me = actor.process();
                actor.outside(
                        "believes that all below " + firstLive + " is done, all below " + visibleBelow + " visible",
                        state -> state.putOutside("mark/" + me, List.of(firstLive, visibleBelow)));
            }
        }

        private void publish() {
            long from = mark.firstLive();
            List<?> rows = actor.ask("read from " + from, List.class, state -> unfinished(state, from));
            List<Row> sent = new ArrayList<>();
            Set<Character> waiting = new HashSet<>();
            for (Object each : rows) {
                Row row = (Row) each;
                boolean maySend = !waiting.contains(row.key()) || isSeeded(SeededFault.LATER_OVERTAKES);
                Turn turn = maySend ? send(row) : Turn.PASSED;
                if (turn == Turn.SENT) {
                    sent.add(row);
                } else if (turn == Turn.PASSED || !isSeeded(SeededFault.BATCH_CHANGES_ITS_MIND)) {
                    waiting.add(row.key());
                }
            }
            if (!sent.isEmpty()) {
                markPublished(sent);
            }
            if (isSeeded(SeededFault.CURSOR_IS_TRUTH) && !sent.isEmpty()) {
                long next = sent.get(sent.size() - 1).sequence() + 1;
                mark = new LowWaterMark(next, mark.visibleBelow(), mark.candidate(), mark.fence());
                believe(next, mark.visibleBelow());
            }
        }

        private Turn send(Row row) {
            int until = validUntil;
            long mine = epoch;
            boolean blind = isSeeded(SeededFault.SENT_PAST_LEASE);
            // A pause holds for the relays of now, not for one that is started afterwards.
            boolean mayBePaused = actor.process() < processes();
            try {
                return Actor.required(
                        Turn.class,
                        actor.step(new Pending("send " + row.key() + row.sequence(), Pending.Kind.SEND, null, state -> {
                            if (mayBePaused && state.outside(PAUSED, Boolean.class) != null) {
                                return Turn.RESTING;
                            }
                            Lease lease = (Lease) state.rows().get("lease");
                            boolean held = blind || state.now() < until;
                            if (held) {
                                state.appendOutside("broker", row);
                            }
                            if (held && lease != null && lease.epoch() != mine) {
                                state.violate("The event " + row.key() + row.sequence()
                                        + " was sent by a relay whose range has another holder");
                            }
                            return held ? Turn.SENT : Turn.PASSED;
                        })));
            } catch (DatabaseError e) {
                return Turn.PASSED;
            }
        }

        private void markPublished(List<Row> rows) {
            SimulatedTransaction transaction = actor.newTransaction();
            int me = actor.process();
            long mine = epoch;
            transaction.statement("mark as published " + rows, Integer.class, sql -> {
                sql.await("lease");
                Lease lease = sql.find("lease", Lease.class);
                if (lease == null || lease.owner() != me || lease.epoch() != mine) {
                    return 0;
                }
                for (Row row : rows) {
                    sql.await("outbox/" + row.sequence());
                    sql.delete("outbox/" + row.sequence());
                }
                return rows.size();
            });
            transaction.commit();
        }
    }

    private static Horizon horizon(Sql sql, long from) {
        long firstLive = Long.MAX_VALUE;
        for (Object row : sql.scan("outbox/").values()) {
            if (((Row) row).sequence() >= from) {
                firstLive = Math.min(firstLive, ((Row) row).sequence());
            }
        }
        return new Horizon(sql.oldestRunning(), sql.nextXid(), firstLive);
    }

    private static List<Row> unfinished(State state, long from) {
        return state.rows("outbox/").values().stream()
                .map(Row.class::cast)
                .filter(row -> row.sequence() >= from)
                .toList();
    }

    @Override
    @Nullable
    String check(State state) {
        for (Object believed : state.outside("mark/").values()) {
            long firstLive = (Long) ((List<?>) believed).get(0);
            long visibleBelow = (Long) ((List<?>) believed).get(1);
            for (Row row : unfinished(state, 0)) {
                if (row.sequence() < firstLive) {
                    return "A relay takes all below " + firstLive + " for done, but the event " + row.sequence()
                            + " is not: it would be lost";
                }
            }
            for (OpenTransaction open : state.transactions().values()) {
                for (Map.Entry<String, Object> written :
                        open.writes().subMap("outbox/", "outbox/\uffff").entrySet()) {
                    if (written.getValue() instanceof Row row && row.sequence() < visibleBelow) {
                        return "A relay takes all below " + visibleBelow + " for visible, but the event "
                                + row.sequence() + " is not committed yet: it would be lost";
                    }
                }
            }
        }
        return checkOrder(state.listOutside("broker"));
    }

    /** Of each key the events must appear first in the order of their numbers. */
    private static @Nullable String checkOrder(List<?> broker) {
        for (int i = 0; i < broker.size(); i++) {
            Row row = (Row) broker.get(i);
            boolean first = broker.indexOf(row) == i;
            for (int j = 0; first && j < i; j++) {
                Row earlier = (Row) broker.get(j);
                if (earlier.key() == row.key() && earlier.sequence() > row.sequence()) {
                    return "The event " + row.key() + row.sequence() + " arrived after " + earlier.key()
                            + earlier.sequence() + ", which came later";
                }
            }
        }
        return null;
    }

    @Override
    @Nullable
    String checkComeBack(State state, String result) {
        List<Row> left = unfinished(state, 0);
        return left.isEmpty() ? null : "the events " + left + " were not published";
    }
}
