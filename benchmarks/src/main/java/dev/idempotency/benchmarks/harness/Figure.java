package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.Nullable;

/**
 * What a contest reports: a form's metric, alone or against the same metric of another form.
 *
 * @param form the name of the form
 * @param baseline the name of the form it is compared with, or null
 * @param metric what is reported
 * @param target what it should reach, or null if there is no target
 */
public record Figure(
        String form,
        @Nullable String baseline,
        Metric metric,
        @Nullable Target target) {
    /** Checks that a target for a ratio has a baseline. */
    public Figure {
        if (baseline == null && target != null && target.kind() == Target.Kind.RATIO_AT_LEAST) {
            throw new IllegalArgumentException("The target of " + form + " is a ratio, but there is no baseline");
        }
    }

    /**
     * Returns a figure that is compared with another form.
     *
     * @param form the name of the form
     * @param baseline the name of the other form
     * @param metric what is reported
     * @return the figure, without a target
     */
    public static Figure against(String form, String baseline, Metric metric) {
        return new Figure(form, baseline, metric, null);
    }

    /**
     * Returns a figure that is compared with nothing.
     *
     * @param form the name of the form
     * @param metric what is reported
     * @return the figure, without a target
     */
    public static Figure alone(String form, Metric metric) {
        return new Figure(form, null, metric, null);
    }

    /**
     * Returns this figure with a target.
     *
     * @param goal what it should reach
     * @return the figure
     */
    public Figure target(Target goal) {
        return new Figure(form, baseline, metric, goal);
    }
}
