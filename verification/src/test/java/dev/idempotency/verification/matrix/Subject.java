package dev.idempotency.verification.matrix;

import dev.idempotency.testkit.process.Steps;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** An adapter under one protection, strategy or mode, on one dialect: how it is run, and how it is judged. */
abstract class Subject {
    /** The bound on idleness is what ends the transaction of a stopped process, so cases of that kind wait for it. */
    static final TransactionLimits LIMITS =
            new TransactionLimits(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMillis(2_500));

    private final String name;
    private final Dialect dialect;

    Subject(String name, Dialect dialect) {
        this.name = name + ", " + dialect;
        this.dialect = dialect;
    }

    final String name() {
        return name;
    }

    final Dialect dialect() {
        return dialect;
    }

    /** The steps at which this kind of crash makes a difference; empty if the kind makes none here. */
    abstract List<String> steps(Crash crash);

    /** Those of them that are tried in every build; a process for each would take too long. */
    abstract Set<String> usualSteps(Crash crash);

    /** How often the step must be reached before the crash. */
    int occurrence(String step) {
        return 1;
    }

    /** How long a client may have to repeat before it has its answer, whatever has happened. */
    Duration bound() {
        return Duration.ofSeconds(15);
    }

    boolean needsBroker() {
        return false;
    }

    /** Makes an instance of the service. */
    abstract Service serve(Site site, Steps steps, Mutant mutant) throws Exception;

    /** Makes what the first call of this key finds. */
    void prepare(Trial trial) throws Exception {}

    /**
     * Lets the time pass until the leases are over that nobody extends: of a key's claim, and of an instance that is gone.
     */
    void endLeases(Trial trial, boolean isOwnerGone) {}

    /** What is wrong with the database and the replies, at any time. */
    abstract Optional<String> check(Trial trial);

    /** What is wrong when a client has been given its last answer. */
    abstract Optional<String> checkSettled(Trial trial, Reply last);

    /** What is wrong with the reply to a repeat that came while the first owner was only stopped. */
    Optional<String> checkWhileStopped(String step, Reply reply) {
        return Optional.empty();
    }

    @Override
    public final String toString() {
        return name;
    }
}
