package dev.idempotency.benchmarks.harness;

import org.jspecify.annotations.Nullable;

/**
 * One line of a report.
 *
 * @param suite the suite
 * @param name contest, form and metric
 * @param unit the unit of the values
 * @param value the form's runs
 * @param comparison what it is compared with, or null
 * @param target what it should reach, or null
 * @param runs how many runs there were of each form
 */
public record Row(
        String suite,
        String name,
        String unit,
        Spread value,
        @Nullable Comparison comparison,
        @Nullable Target target,
        int runs) {
    /**
     * The other form of a row.
     *
     * @param baseline the form's name
     * @param value its runs
     * @param ratio the median of the row divided by this form's
     * @param ratios the same of each turn, which tells how steady the ratio is
     */
    public record Comparison(String baseline, Spread value, double ratio, Spread ratios) {}

    /**
     * Tells whether the target was reached.
     *
     * @return null if there is no target
     */
    public @Nullable Boolean met() {
        return target == null ? null : target.isMet(value.median(), comparison == null ? Double.NaN : comparison.ratio);
    }
}
