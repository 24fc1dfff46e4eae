package dev.idempotency.benchmarks.harness;

/** One run of a form of the work, which can be repeated; suites implement it. */
@FunctionalInterface
public interface Trial {
    /**
     * Prepares what this run needs, does the work and measures that alone.
     *
     * @return what was measured
     * @throws Exception if the work failed, or did not do what it was to do: a form that is fast because it fails is no
     *     result
     */
    Sample run() throws Exception;
}
