package dev.idempotency.examples.chain;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** What customers mean to buy, drawn one after the other as clients get to it. Safe for use by many threads. */
final class Intents {
    private final SplittableRandom random;
    private final int most;
    private final BooleanSupplier over;
    private final List<Intent> drawn = new ArrayList<>();
    private boolean ended;

    private Intents(int most, BooleanSupplier over, SplittableRandom random) {
        this.most = most;
        this.over = over;
        this.random = random;
    }

    /** This many. */
    static Intents of(int count, SplittableRandom random) {
        return new Intents(count, () -> false, random);
    }

    /** As many as clients get to until it is over. */
    static Intents until(BooleanSupplier over, SplittableRandom random) {
        return new Intents(Integer.MAX_VALUE, over, random);
    }

    /** Returns the next one, or nothing once they have ended. */
    synchronized Optional<Intent> next() {
        if (haveEnded()) {
            return Optional.empty();
        }
        Intent intent = Intent.draw(drawn.size() + 1, random);
        drawn.add(intent);
        return Optional.of(intent);
    }

    /** Lets no more begin. */
    synchronized void end() {
        ended = true;
    }

    /** Tells whether there will be no more than the {@linkplain #drawn drawn} ones. */
    synchronized boolean haveEnded() {
        ended = ended || drawn.size() == most || over.getAsBoolean();
        return ended;
    }

    synchronized List<Intent> drawn() {
        return List.copyOf(drawn);
    }

    synchronized int count() {
        return drawn.size();
    }
}
