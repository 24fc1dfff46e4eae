package dev.idempotency.verification.worlds;

/** What may go wrong, each kind so many times in one run. */
enum Budget {
    /** A process dies, or its connection is cut; during a commit the commit may still happen. */
    FAULTS(0),
    /** So much time passes that every lease held now is over. */
    EXPIRIES(1),
    /** A statement of the work loses against a concurrent transaction, or fails otherwise. */
    CONFLICTS(2),
    /** A process is stopped and never goes on, its connections open. */
    STOPS(3),
    /** The group coordinator gives a partition to another consumer. */
    REBALANCES(4);

    static final int KINDS = 5;

    private final int place;

    Budget(int place) {
        this.place = place;
    }

    /** Where it is counted, 0 to {@link #KINDS} - 1. */
    int place() {
        return place;
    }
}
