package dev.idempotency.verification.history;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Looks for an order of the calls of a history in which each takes effect at one moment between its begin and its end and
 * is answered as the specification says (the search of Wing and Gong, with the states that lead nowhere remembered).
 */
final class LinearizabilityChecker {
    private static final int MOST_CALLS = 62;

    private final List<Call> history;
    private final Set<Visited> deadEnds = new HashSet<>();
    private final List<Call> order = new ArrayList<>();

    private record Visited(long done, RecordSpecification state) {}

    private LinearizabilityChecker(List<Call> history) {
        if (history.size() > MOST_CALLS) {
            throw new IllegalArgumentException("A history has at most " + MOST_CALLS + " calls");
        }
        this.history = List.copyOf(history);
    }

    /** An order that explains the history, or empty if there is none. */
    static Optional<List<Call>> explain(List<Call> history) {
        LinearizabilityChecker checker = new LinearizabilityChecker(history);
        return checker.search(0, RecordSpecification.nothing()) ? Optional.of(checker.order) : Optional.empty();
    }

    private boolean search(long done, RecordSpecification state) {
        if (Long.bitCount(done) == history.size()) {
            return true;
        }
        if (!deadEnds.add(new Visited(done, state))) {
            return false;
        }
        long firstEnd = firstEndOfOpenCalls(done);
        for (int i = 0; i < history.size(); i++) {
            Call call = history.get(i);
            boolean open = (done & (1L << i)) == 0;
            // What began after another call's end cannot have happened before it.
            if (open && call.begin() < firstEnd) {
                for (RecordSpecification next : possiblyAfter(state, call)) {
                    order.add(call);
                    if (search(done | (1L << i), next)) {
                        return true;
                    }
                    order.remove(order.size() - 1);
                }
            }
        }
        return false;
    }

    /**
     * A key is busy also while somebody else only tries to claim or to forget it: his lock, or his row, is in the way for
     * a moment. So a claim that overlaps with such a call may be told so, and nothing need be forgotten then.
     */
    private List<RecordSpecification> possiblyAfter(RecordSpecification state, Call call) {
        List<RecordSpecification> possible = state.possiblyAfter(call);
        boolean busy = call.answer() == Call.Answer.IN_PROGRESS
                || (call.action() == Call.Action.FORGET && call.answer() == Call.Answer.NO);
        return possible.isEmpty() && busy && isContended(call) ? List.of(state) : possible;
    }

    private boolean isContended(Call call) {
        return history.stream()
                .anyMatch(other -> other.thread() != call.thread()
                        && other.begin() < call.end()
                        && call.begin() < other.end()
                        && switch (other.action()) {
                            case CLAIM, CLAIM_OTHERWISE, FORGET -> true;
                            case EXTEND, COMPLETE, RELEASE, END_LEASE, COMMIT, ROLL_BACK -> false;
                        });
    }

    private long firstEndOfOpenCalls(long done) {
        long first = Long.MAX_VALUE;
        for (int i = 0; i < history.size(); i++) {
            if ((done & (1L << i)) == 0) {
                first = Math.min(first, history.get(i).end());
            }
        }
        return first;
    }
}
