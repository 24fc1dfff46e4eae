package dev.idempotency.verification.worlds;

import dev.idempotency.verification.worlds.OpenTransaction.Status;
import dev.idempotency.verification.worlds.ProgramTree.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Visits every state of a world once, the nearest first, so that the first violation found has the shortest schedule.
 *
 * <p>In each state it is also asked what would be if everybody were gone at that very moment: open transactions are rolled
 * back, commits under way happen or do not, and then a process comes back alone and must succeed.
 */
final class Explorer {
    private static final int MOST_STATES = 3_000_000;
    private static final int MOST_STEPS_ALONE = 300;

    private final World world;
    private final ProgramTree programs;
    private final Map<State, Integer> numbers = new HashMap<>();
    private final List<State> states = new ArrayList<>();
    private final List<Way> ways = new ArrayList<>();
    private final Set<State> comeBacks = new HashSet<>();
    private final List<String> comeBackSteps = new ArrayList<>();
    private long moves;
    private int ends;

    /** How a state was reached first. */
    private record Way(int from, String text) {}

    Explorer(World world) {
        this.world = world;
        this.programs = new ProgramTree(world);
    }

    static Exploration explore(World world) {
        return new Explorer(world).explore();
    }

    private Exploration explore() {
        State begin = world.begin();
        for (int process = 0; process < world.processes(); process++) {
            begin.setPosition(process, programs.beginning(process, 0).number());
        }
        reach(begin, -1, "");
        for (int number = 0; number < states.size(); number++) {
            State state = states.get(number);
            String violation = violation(state);
            if (violation == null) {
                violation = expand(number, state);
            }
            if (violation != null) {
                return new Exploration(world.name(), states.size(), moves, ends, violation, schedule(number));
            }
            if (states.size() > MOST_STATES) {
                throw new IllegalStateException("The world " + world.name() + " is not small: more than " + MOST_STATES
                        + " states, " + programs.size() + " points");
            }
        }
        return new Exploration(world.name(), states.size(), moves, ends, null, List.of());
    }

    private List<String> schedule(int number) {
        List<String> texts = new ArrayList<>();
        for (int at = number; ways.get(at).from() >= 0; at = ways.get(at).from()) {
            texts.add(ways.get(at).text());
        }
        Collections.reverse(texts);
        texts.addAll(comeBackSteps);
        return texts;
    }

    private void reach(State state, int from, String text) {
        moves++;
        String wrong = from < 0 ? null : world.checkMove(states.get(from), state);
        if (wrong != null) {
            state.violate(wrong);
        }
        if (numbers.putIfAbsent(state, states.size()) == null) {
            states.add(state);
            ways.add(new Way(from, text));
        }
    }

    private @Nullable String violation(State state) {
        if (state.violation() != null) {
            return state.violation();
        }
        for (int process = 0; process < world.processes(); process++) {
            Point point = programs.at(state.position(process));
            if (point.pending() == null) {
                String wrong = world.checkResult(point.result());
                if (wrong != null) {
                    return wrong;
                }
            }
        }
        String wrong = world.check(state);
        return wrong != null ? wrong : comeBackLater(state);
    }

    /** Makes all moves that are possible, and tells what is wrong if there are none or processes wait for each other. */
    private @Nullable String expand(int number, State state) {
        long before = moves;
        int[] waits = new int[world.processes()];
        Arrays.fill(waits, -1);
        boolean unfinished = false;
        for (int process = 0; process < world.processes(); process++) {
            Point point = programs.at(state.position(process));
            Pending pending = point.pending();
            if (pending != null && !isStopped(state, process)) {
                unfinished = true;
                waits[process] = step(number, state, process, point, pending);
                interrupt(number, state, process, point, pending);
            }
        }
        passTimeAndEndTransactions(number, state);
        for (World.Event event : world.events(state)) {
            reach(event.after(), number, event.text());
        }
        if (isCircular(waits)) {
            return "Deadlock: processes wait for each other's locks";
        }
        if (moves == before) {
            ends++;
            return unfinished ? "A process waits for ever" : null;
        }
        return null;
    }

    private static boolean isStopped(State state, int process) {
        return state.outside("stopped/" + process, Boolean.class) != null;
    }

    /** Takes the step, and returns for whom it has to wait if it cannot be taken. */
    private int step(int number, State state, int process, Point point, Pending pending) {
        State after = state.copy();
        Answer answer;
        try {
            answer = Answer.of(pending.act().on(after));
        } catch (Blocked blocked) {
            if (world.waitsAreBounded()) {
                fail(number, state, process, point, pending, DatabaseError.Kind.LOCK_TIMEOUT);
            }
            return blocked.owner();
        } catch (DatabaseError e) {
            fail(number, state, process, point, pending, e.kind());
            return -1;
        }
        advance(number, after, process, point, answer);
        if (pending.kind() == Pending.Kind.WORK_STATEMENT && state.budget(Budget.CONFLICTS) > 0) {
            State lost = state.copy();
            lost.spend(Budget.CONFLICTS);
            failIn(number, lost, process, point, pending, DatabaseError.Kind.CONFLICT);
        }
        return -1;
    }

    private void fail(int number, State state, int process, Point point, Pending pending, DatabaseError.Kind kind) {
        failIn(number, state.copy(), process, point, pending, kind);
    }

    private void failIn(int number, State after, int process, Point point, Pending pending, DatabaseError.Kind kind) {
        after.failed(pending.transactionId(), kind, world.dialect());
        advance(number, after, process, point, Answer.error(kind));
    }

    private void advance(int number, State after, int process, Point point, Answer answer) {
        Point next = programs.after(point, answer);
        after.setPosition(process, next.number());
        reach(after, number, next.text());
    }

    /** The process dies here, is stopped here, or its connection is cut here. */
    private void interrupt(int number, State state, int process, Point point, Pending pending) {
        boolean committing = pending.kind() == Pending.Kind.COMMIT;
        if (state.budget(Budget.STOPS) > 0) {
            State stopped = state.copy();
            stopped.spend(Budget.STOPS);
            stopped.putOutside("stopped/" + process, true);
            reach(stopped, number, world.processName(process) + "  is stopped for good");
        }
        if (state.budget(Budget.FAULTS) == 0 || point.isBeginning()) {
            return;
        }
        State crashed = state.copy();
        crashed.spend(Budget.FAULTS);
        for (Map.Entry<String, OpenTransaction> open : state.transactions().entrySet()) {
            if (open.getValue().owner() == process) {
                crashed.abandon(open.getKey(), committing);
            }
        }
        crashed.nextLife(process);
        crashed.setPosition(
                process, programs.beginning(process, crashed.life(process)).number());
        reach(crashed, number, world.processName(process) + "  dies" + (committing ? ", its COMMIT sent" : ""));
        if (pending.kind() == Pending.Kind.SEND) {
            State unsent = state.copy();
            unsent.spend(Budget.FAULTS);
            State unheard = unsent.copy();
            advance(number, unsent, process, point, Answer.error(DatabaseError.Kind.CONNECTION_LOST));
            pending.act().on(unheard);
            advance(number, unheard, process, point, Answer.error(DatabaseError.Kind.CONNECTION_LOST));
        }
        if (pending.transaction() != null) {
            State cut = state.copy();
            cut.spend(Budget.FAULTS);
            cut.abandon(pending.transactionId(), committing);
            advance(
                    number,
                    cut,
                    process,
                    point,
                    Answer.error(committing ? DatabaseError.Kind.COMMIT_UNKNOWN : DatabaseError.Kind.CONNECTION_LOST));
        }
    }

    private void passTimeAndEndTransactions(int number, State state) {
        if (state.budget(Budget.EXPIRIES) > 0) {
            State later = state.copy();
            later.spend(Budget.EXPIRIES);
            later.passTime(1);
            reach(later, number, "time      all leases held now are over");
        }
        for (Map.Entry<String, OpenTransaction> open : state.transactions().entrySet()) {
            Status status = open.getValue().status();
            if (status == Status.IN_DOUBT) {
                State durable = state.copy();
                durable.makeDurable(open.getKey());
                reach(durable, number, "server    " + open.getKey() + " becomes durable");
            }
            boolean unattended = status == Status.ORPHANED
                    || (isStopped(state, open.getValue().owner()) && world.isIdleTimeOver());
            if (status == Status.IN_DOUBT || (unattended && isEndedByServer(state, open.getValue()))) {
                State rolledBack = state.copy();
                rolledBack.rollBack(open.getKey());
                reach(rolledBack, number, "server    " + open.getKey() + " is rolled back");
            }
        }
    }

    /** Whether the server will end a transaction whose client does nothing any more (rule T9). */
    private boolean isEndedByServer(State state, OpenTransaction open) {
        if (open.owner() >= 0 && isStopped(state, open.owner())) {
            return world.idleTransactionsEnd();
        }
        return open.status() != Status.ORPHANED || world.deathIsNoticed();
    }

    private static boolean isCircular(int[] waits) {
        for (int process = 0; process < waits.length; process++) {
            int at = process;
            for (int i = 0; i < waits.length && at >= 0; i++) {
                at = waits[at];
                if (at == process) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Everybody is gone: with the commits under way durable, and without. */
    private @Nullable String comeBackLater(State state) {
        boolean inDoubt = state.transactions().values().stream().anyMatch(open -> open.status() == Status.IN_DOUBT);
        String wrong = comeBackLater(state, false);
        return wrong != null || !inDoubt ? wrong : comeBackLater(state, true);
    }

    private @Nullable String comeBackLater(State state, boolean durable) {
        State left = state.copy();
        for (Map.Entry<String, OpenTransaction> open : state.transactions().entrySet()) {
            Status status = open.getValue().status();
            if (durable && status == Status.IN_DOUBT) {
                left.makeDurable(open.getKey());
            } else if (status == Status.IN_DOUBT || isEndedByServer(state, open.getValue())) {
                left.rollBack(open.getKey());
            }
        }
        left.forgetProcesses();
        world.prepareComeBack(left);
        return comeBacks.add(left) ? comeBack(left.copy()) : null;
    }

    private @Nullable String comeBack(State state) {
        Point point = programs.beginning(world.processes(), 0);
        comeBackSteps.clear();
        comeBackSteps.add("everybody is gone, and somebody comes back later:");
        for (int steps = 0; point.pending() != null; steps++) {
            Pending pending = point.pending();
            Answer answer;
            try {
                answer = Answer.of(pending.act().on(state));
            } catch (Blocked blocked) {
                comeBackSteps.add(world.processName(world.processes()) + "  " + pending.label() + " -> waits");
                return "Whoever comes back later, when everybody is gone, waits for a lock";
            } catch (DatabaseError e) {
                state.failed(pending.transactionId(), e.kind(), world.dialect());
                answer = Answer.error(e.kind());
            }
            if (steps > MOST_STEPS_ALONE) {
                return "Whoever comes back later, when everybody is gone, comes to no end";
            }
            point = programs.after(point, answer);
            comeBackSteps.add(point.text());
        }
        String wrong = state.violation();
        if (wrong == null) {
            wrong = world.checkComeBack(state, point.result());
        }
        if (wrong == null) {
            wrong = world.check(state);
        }
        if (wrong == null) {
            comeBackSteps.clear();
            return null;
        }
        return "Whoever comes back later finds: " + wrong;
    }
}
