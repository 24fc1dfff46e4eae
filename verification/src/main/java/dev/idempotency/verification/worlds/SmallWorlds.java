package dev.idempotency.verification.worlds;

import dev.idempotency.event.Deduplication;
import dev.idempotency.verification.worlds.OperationWorld.Kind;
import dev.idempotency.verification.worlds.OperationWorld.Setup;
import dev.idempotency.verification.worlds.OperationWorld.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The worlds there are, each with or without one rule taken away. */
public final class SmallWorlds {
    private final List<Function<SeededFault, World>> worlds;

    private SmallWorlds(List<Function<SeededFault, World>> worlds) {
        this.worlds = List.copyOf(worlds);
    }

    static SmallWorlds all() {
        List<Function<SeededFault, World>> worlds = new ArrayList<>();
        for (Setup setup : operations()) {
            worlds.add(fault -> new OperationWorld(setup, fault));
        }
        for (EventWorld.Setup setup : events()) {
            worlds.add(fault -> new EventWorld(setup, fault));
        }
        worlds.add(fault -> new ClaimingRelays("outbox by claims", 2, 2, fault)
                .with(Budget.FAULTS, 1)
                .with(Budget.EXPIRIES, 1));
        worlds.add(fault -> new ClaimingRelays("outbox by claims, two faults", 2, 1, fault)
                .with(Budget.FAULTS, 2)
                .with(Budget.EXPIRIES, 1));
        for (LeasedRelays.Setup setup : relays()) {
            worlds.add(fault -> new LeasedRelays(setup, fault));
        }
        return new SmallWorlds(worlds);
    }

    private static List<LeasedRelays.Setup> relays() {
        return List.of(
                LeasedRelays.Setup.of("outbox by leases, while it is written", 1, 3)
                        .appending("a", "b"),
                LeasedRelays.Setup.of("outbox by leases, while it is written, faults", 1, 2)
                        .appending("a")
                        .with(Budget.FAULTS, 2),
                LeasedRelays.Setup.of("outbox by leases, two relays", 2, 1)
                        .holding("aa")
                        .with(Budget.FAULTS, 1)
                        .with(Budget.EXPIRIES, 1),
                LeasedRelays.Setup.of("outbox by leases, paused and resumed", 1, 2)
                        .holding("aab")
                        .pausingAndResuming()
                        .with(Budget.FAULTS, 1),
                LeasedRelays.Setup.of("outbox by leases, two relays, two faults", 2, 1)
                        .holding("a")
                        .with(Budget.FAULTS, 2)
                        .with(Budget.EXPIRIES, 1));
    }

    private static List<Setup> operations() {
        return List.of(
                Setup.of("operation on PostgreSQL", Kind.POSTGRESQL, 2).with(Budget.FAULTS, 2),
                Setup.of("operation on PostgreSQL, three clients", Kind.POSTGRESQL, 3)
                        .with(Budget.FAULTS, 1)
                        .calling(1),
                Setup.of("operation on PostgreSQL, refused", Kind.POSTGRESQL, 2)
                        .doing(Work.REFUSES)
                        .with(Budget.FAULTS, 1),
                Setup.of("operation on PostgreSQL, answer not kept", Kind.POSTGRESQL, 2)
                        .doing(Work.ANSWERS_ONCE)
                        .with(Budget.FAULTS, 1),
                Setup.of("operation on PostgreSQL, swallowed error", Kind.POSTGRESQL, 2)
                        .doing(Work.SWALLOWS_ERRORS),
                Setup.of("operation on PostgreSQL, ROLLBACK as text", Kind.POSTGRESQL, 2)
                        .doing(Work.ROLLS_BACK),
                Setup.of("operation on PostgreSQL, conflicts", Kind.POSTGRESQL, 2)
                        .with(Budget.CONFLICTS, 1)
                        .with(Budget.FAULTS, 1),
                Setup.of("operation on PostgreSQL, stopped", Kind.POSTGRESQL, 2).with(Budget.STOPS, 1),
                Setup.of("keys in two cases", Kind.POSTGRESQL, 2)
                        .under(OperationWorld.id("charge", "Key"), OperationWorld.id("charge", "key")),
                Setup.of("keys cut in two places", Kind.POSTGRESQL, 2)
                        .under(OperationWorld.id("a:b", "c"), OperationWorld.id("a", "b:c")),
                Setup.of("operation on H2", Kind.H2, 2).with(Budget.FAULTS, 2),
                Setup.of("operation on H2, ROLLBACK as text", Kind.H2, 2).doing(Work.ROLLS_BACK),
                Setup.of("leased operation, abandoned is reported", Kind.LEASED, 2)
                        .with(Budget.FAULTS, 2)
                        .with(Budget.EXPIRIES, 1)
                        .calling(1),
                Setup.of("leased operation, abandoned runs again", Kind.LEASED, 2)
                        .runningAbandonedAgain()
                        .with(Budget.FAULTS, 1)
                        .with(Budget.EXPIRIES, 1)
                        .calling(1),
                Setup.of("leased operation, first run fails", Kind.LEASED, 2)
                        .doing(Work.FAILS_FIRST)
                        .with(Budget.FAULTS, 1));
    }

    private static List<EventWorld.Setup> events() {
        return List.of(
                EventWorld.Setup.of("events by id", Deduplication.EVENT_ID, "a", "b")
                        .with(Budget.FAULTS, 1)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by id, two faults", Deduplication.EVENT_ID, "a")
                        .polling(1)
                        .with(Budget.FAULTS, 2)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by id, sent twice", Deduplication.EVENT_ID, "a", "a")
                        .oneByOne()
                        .with(Budget.FAULTS, 1)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by offset", Deduplication.OFFSET, "a", "b")
                        .with(Budget.FAULTS, 1)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by offset, two faults", Deduplication.OFFSET, "a")
                        .polling(1)
                        .with(Budget.FAULTS, 2)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by id and offset, one by one", Deduplication.EVENT_ID_AND_OFFSET, "a", "b")
                        .oneByOne()
                        .polling(1)
                        .with(Budget.FAULTS, 1)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events in two orders", Deduplication.EVENT_ID, "a", "b")
                        .andPartition("b", "a")
                        .polling(1)
                        .with(Budget.CONFLICTS, 1)
                        .with(Budget.FAULTS, 1),
                EventWorld.Setup.of("events by id, stopped", Deduplication.EVENT_ID, "a")
                        .withinIdleTime()
                        .with(Budget.STOPS, 1)
                        .with(Budget.REBALANCES, 1),
                EventWorld.Setup.of("events by id, swallowed error", Deduplication.EVENT_ID, "a")
                        .swallowingErrors());
    }

    List<World> with(SeededFault fault) {
        return worlds.stream().map(world -> world.apply(fault)).toList();
    }

    /** The world that is said to find the fault, with the fault in it. */
    World finding(SeededFault fault) {
        return with(fault).stream()
                .filter(world -> world.name().equals(fault.world()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("There is no world \"" + fault.world() + "\""));
    }

    /**
     * Visits all worlds with all rules in force, then takes each rule away.
     *
     * @param arguments parts of the names of worlds or faults to visit; all of them if there are none
     */
    public static void main(String[] arguments) {
        SmallWorlds worlds = all();
        for (World world : worlds.with(SeededFault.NONE)) {
            if (isChosen(world.name(), arguments)) {
                System.out.println(Explorer.explore(world).describe());
            }
        }
        for (SeededFault fault : SeededFault.values()) {
            if (fault != SeededFault.NONE && isChosen(fault.name(), arguments)) {
                System.out.println(
                        fault + " in " + Explorer.explore(worlds.finding(fault)).describe());
            }
        }
    }

    private static boolean isChosen(String name, String[] arguments) {
        return arguments.length == 0 || List.of(arguments).stream().anyMatch(name::contains);
    }
}
