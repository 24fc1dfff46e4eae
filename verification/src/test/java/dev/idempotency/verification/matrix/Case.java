package dev.idempotency.verification.matrix;

/**
 * One case of the matrix.
 *
 * @param subject what runs
 * @param step where it crashes
 * @param crash how
 * @param mutant which rule is taken away; none in the matrix itself
 */
record Case(Subject subject, String step, Crash crash, Mutant mutant) {
    int occurrence() {
        return subject.occurrence(step);
    }

    /** Whether it runs in every build. */
    boolean isUsual() {
        // On H2 a process opens a database of its own, and a client tries for a second to connect: too long for all.
        boolean isSlow = crash == Crash.UNREACHABLE || (crash == Crash.HALT && !step.equals("operation.committed"));
        if (subject.dialect() == Dialect.H2 && isSlow) {
            return false;
        }
        return subject.usualSteps(crash).contains(step);
    }

    String text() {
        String times = occurrence() == 1 ? "" : " (time " + occurrence() + ")";
        return "%s, %s at %s%s".formatted(subject, crash, step, times);
    }
}
