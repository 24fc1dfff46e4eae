package dev.idempotency.verification.worlds;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A few processes, what may happen to them, and what must be true whatever happens. */
abstract class World {
    /** Begins the result of a program that ended with an exception nobody expected. */
    static final String RAW = "raw exception: ";

    private final String name;
    private final int processes;
    final SeededFault fault;

    /** Creates a world of processes 0 to {@code processes - 1}; one more number is used by whoever comes back later. */
    World(String name, int processes, SeededFault fault) {
        this.name = name;
        this.processes = processes;
        this.fault = fault;
    }

    final String name() {
        return name;
    }

    final int processes() {
        return processes;
    }

    final boolean isSeeded(SeededFault seeded) {
        return fault == seeded;
    }

    abstract Dialect dialect();

    /** Whether a wait for another transaction ends by itself (rule T9). */
    boolean waitsAreBounded() {
        return true;
    }

    /** Whether the server ends a transaction whose client sends nothing more (rule T9). */
    boolean idleTransactionsEnd() {
        return true;
    }

    /** Whether so much time passes in this world that the server would end a transaction of a stopped process. */
    boolean isIdleTimeOver() {
        return true;
    }

    /** Whether the server notices that a client is gone (rule T9). */
    boolean deathIsNoticed() {
        return true;
    }

    abstract String processName(int process);

    /** The state in which all begins, but for the positions of the processes. */
    abstract State begin();

    /** What the process does, from the beginning of its life; the result is for people and for {@link #check}. */
    abstract String run(Actor actor);

    /** What is wrong with a state; null if nothing is. */
    abstract @Nullable String check(State state);

    /** What is wrong with a move; null if nothing is. */
    @Nullable
    String checkMove(State before, State after) {
        return null;
    }

    /** What is wrong with a process that ended so; null if nothing is. */
    @Nullable
    String checkResult(String result) {
        return result.startsWith(RAW) ? "A call ended with a " + result : null;
    }

    /** What may happen besides steps, crashes, lost connections and the passing of time. */
    List<Event> events(State state) {
        return List.of();
    }

    /** Prepares a state in which everybody is gone for the process that comes back later: leases are over, for instance. */
    void prepareComeBack(State state) {
        state.passTime(10);
    }

    /**
     * What is wrong after somebody has come back later, alone and undisturbed (process number {@link #processes}).
     *
     * @param state what he left
     * @param result how his program ended
     */
    abstract @Nullable String checkComeBack(State state, String result);

    /**
     * Something that the world does.
     *
     * @param text what, for people
     * @param after the state after it
     */
    record Event(String text, State after) {}
}
