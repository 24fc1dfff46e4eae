package dev.idempotency.verification.worlds;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A process's only way to the world. Every call is one step; between two steps everybody else may act.
 *
 * <p>A process is not a thread. It is run from its beginning, its earlier steps get the answers they got before, and its
 * first new step ends the run: what it would do is then a value that the explorer can carry out in any state. So engines
 * written as plain blocking code are driven step by step, in every order, and the same schedule always gives the same run.
 */
final class Actor {
    private final int process;
    private final int life;
    private final List<String> labels;
    private final List<Answer> answers;
    private int next;
    private int transactions;
    private @Nullable Pending pending;

    Actor(int process, int life, List<String> labels, List<Answer> answers) {
        this.process = process;
        this.life = life;
        this.labels = labels;
        this.answers = answers;
    }

    int process() {
        return process;
    }

    /** How often the process has died before. */
    int life() {
        return life;
    }

    /** The step at which the run ended, or null if the program came to its end. */
    @Nullable
    Pending pending() {
        return pending;
    }

    /** A new transaction of this process; it begins with its first statement. */
    SimulatedTransaction newTransaction() {
        transactions++;
        String id = (process + 1) + "'".repeat(life) + "#" + transactions;
        return new SimulatedTransaction(this, id, 10_000L * (process + 1) + 1_000L * life + transactions);
    }

    /** Does something outside of the database, where it lasts at once. */
    void outside(String label, Consumer<State> act) {
        step(new Pending(label, Pending.Kind.OUTSIDE, null, state -> {
            act.accept(state);
            return null;
        }));
    }

    <T> T ask(String label, Class<T> type, Function<State, T> act) {
        return required(type, step(new Pending(label, Pending.Kind.OUTSIDE, null, act::apply)));
    }

    static <T> T required(Class<T> type, @Nullable Object answer) {
        return type.cast(Objects.requireNonNull(answer, "answer"));
    }

    @Nullable
    Object step(Pending step) {
        if (pending != null) {
            throw new Suspended();
        }
        if (next == answers.size()) {
            pending = step;
            throw new Suspended();
        }
        if (!labels.get(next).equals(step.label())) {
            throw new IllegalStateException("A process did not do the same again: \"" + labels.get(next)
                    + "\" before and \"" + step.label() + "\" now");
        }
        Answer answer = answers.get(next);
        next++;
        if (answer.error() != null) {
            throw new DatabaseError(answer.error());
        }
        return answer.value();
    }

    /** Ends a run at its first new step; an error, because engines catch exceptions. */
    static final class Suspended extends Error {
        Suspended() {
            super(null, null, false, false);
        }
    }
}
