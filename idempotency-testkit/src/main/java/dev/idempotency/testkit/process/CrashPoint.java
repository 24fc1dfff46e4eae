package dev.idempotency.testkit.process;

import java.util.Objects;

/**
 * Where a process ends or is held: the n-th time it reaches a named step; tests give it to {@link
 * ChildJvm.Builder#crashAt(CrashPoint)}.
 *
 * @param step the step's name, without {@code #} or blanks
 * @param occurrence 1 for the first time
 * @param action what happens there
 */
public record CrashPoint(String step, int occurrence, Action action) {
    /** What happens at the step. */
    public enum Action {
        /** The process ends at once, without shutdown hooks or {@code finally}, as after SIGKILL. */
        HALT,
        /** The thread stays at the step until {@link ChildJvm#release()}, so that the test can act meanwhile. */
        HOLD
    }

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the name is blank or holds a {@code #} or blank, or the occurrence is below 1
     */
    public CrashPoint {
        Objects.requireNonNull(action, "action");
        if (step.isBlank() || step.chars().anyMatch(c -> c == '#' || c == ',' || Character.isWhitespace(c))) {
            throw new IllegalArgumentException(
                    "A step's name holds no '#', ',' or blank, but this is \"" + step + "\"");
        }
        if (occurrence < 1) {
            throw new IllegalArgumentException("The occurrence is counted from 1, but is " + occurrence);
        }
    }

    /**
     * Returns the point at which the process halts the first time it reaches the step.
     *
     * @param step the step's name
     * @return the point
     */
    public static CrashPoint haltAt(String step) {
        return new CrashPoint(step, 1, Action.HALT);
    }

    /**
     * Returns the point at which the process is held the first time it reaches the step.
     *
     * @param step the step's name
     * @return the point
     */
    public static CrashPoint holdAt(String step) {
        return new CrashPoint(step, 1, Action.HOLD);
    }

    /**
     * Returns this point at another occurrence of the step.
     *
     * @param number 1 for the first
     * @return the point
     */
    public CrashPoint occurrence(int number) {
        return new CrashPoint(step, number, action);
    }

    static CrashPoint parse(String text) {
        String[] parts = text.split("#", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("A crash point is STEP#OCCURRENCE#ACTION, but this is \"" + text + "\"");
        }
        return new CrashPoint(parts[0], Integer.parseInt(parts[1]), Action.valueOf(parts[2]));
    }

    String format() {
        return step + "#" + occurrence + "#" + action;
    }
}
