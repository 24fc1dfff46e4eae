package dev.idempotency.benchmarks.harness;

import java.util.HashMap;
import java.util.Map;

/**
 * What one run measured.
 *
 * @param values the value of each metric
 */
public record Sample(Map<Metric, Double> values) {
    /** Copies the values. */
    public Sample {
        values = Map.copyOf(values);
    }

    /**
     * Returns a sample of one metric.
     *
     * @param metric the metric
     * @param value its value
     * @return the sample
     */
    public static Sample of(Metric metric, double value) {
        return new Sample(Map.of(metric, value));
    }

    /**
     * Returns this sample with one metric more.
     *
     * @param metric the metric
     * @param value its value
     * @return the sample
     */
    public Sample and(Metric metric, double value) {
        Map<Metric, Double> more = new HashMap<>(values);
        more.put(metric, value);
        return new Sample(more);
    }

    double value(Metric metric) {
        Double value = values.get(metric);
        if (value == null) {
            throw new IllegalStateException("A run was to measure " + metric + ", but measured " + values.keySet());
        }
        return value;
    }
}
