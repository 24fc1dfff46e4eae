package dev.idempotency.benchmarks.harness;

import java.util.List;

/**
 * The median of some runs, with their range.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param least the least
 * @param greatest the greatest
 */
public record Spread(double median, double least, double greatest) {
    /**
     * Returns the spread of these values.
     *
     * @param values at least one
     * @return the spread
     */
    public static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("The spread of no values was asked for");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
    }
}
