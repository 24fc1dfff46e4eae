package dev.idempotency.benchmarks.harness;

/** Contests that need the same services; the suites of this module implement it. */
public interface Suite {
    /**
     * Returns the name under which the suite is asked for.
     *
     * @return the name
     */
    String name();

    /**
     * Starts what the contests need, runs them and ends it again.
     *
     * @param harness what runs the contests and keeps their rows
     * @throws Exception if anything failed; the suite has no result then
     */
    void run(Harness harness) throws Exception;
}
