package dev.idempotency.examples.chain;

import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Cuts connections at the server, or the statements on them. */
final class DatabaseTrouble extends Trouble {
    private static final int MOST_CONNECTIONS = 20;

    private final Database database;
    private final Timeline timeline;

    DatabaseTrouble(Database database, Timeline timeline, BooleanSupplier over, SplittableRandom random) {
        super(over, random, 500, 6_000);
        this.database = database;
        this.timeline = timeline;
    }

    @Override
    void strike(SplittableRandom chance) {
        long from = timeline.now();
        if (chance.nextBoolean()) {
            int cut = database.cutConnections(chance.nextInt(1, MOST_CONNECTIONS));
            timeline.add(new Timeline.Incident(Fault.BACKEND, cut + " connections were cut", from, timeline.now()));
        } else {
            database.cutStatements(chance.nextLong(200, 4_000));
            timeline.add(new Timeline.Incident(Fault.STATEMENT, "statements were cut", from, timeline.now()));
        }
    }
}
