package dev.idempotency.benchmarks.harness;

/**
 * What a trial measures.
 *
 * @param name what it is; {@link #RATE} needs no mention in a report
 * @param unit its unit
 */
public record Metric(String name, String unit) {
    /** The name of the usual metric: how much is done in a second. */
    public static final String RATE = "rate";

    /**
     * Returns a rate.
     *
     * @param what what is counted, in the plural
     * @return the metric, with the unit {@code what/s}
     */
    public static Metric rate(String what) {
        return new Metric(RATE, what + "/s");
    }
}
