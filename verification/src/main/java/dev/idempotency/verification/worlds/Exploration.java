package dev.idempotency.verification.worlds;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the visit of a whole world found.
 *
 * @param world the world's name
 * @param states how many states there are, or were visited up to the violation
 * @param moves how many ways from one state to another
 * @param ends how many states in which nothing can happen any more
 * @param violation what is wrong in the nearest state in which something is, or null
 * @param schedule the shortest way there, one line a move
 */
record Exploration(
        String world,
        int states,
        long moves,
        int ends,
        @Nullable String violation,
        List<String> schedule) {
    boolean isClean() {
        return violation == null;
    }

    /** The violation and how it comes about, for people. */
    String describe() {
        StringBuilder text =
                new StringBuilder(world).append(": ").append(states).append(" states");
        if (violation == null) {
            return text.append(", nothing wrong").toString();
        }
        text.append(", then: ").append(violation);
        for (int i = 0; i < schedule.size(); i++) {
            text.append(String.format("%n  %2d. %s", i + 1, schedule.get(i)));
        }
        return text.toString();
    }
}
