package dev.idempotency.benchmarks.harness;

import java.util.Locale;

/**
 * What a figure should reach.
 *
 * @param kind what is compared, and which way
 * @param bound with what
 */
public record Target(Kind kind, double bound) {
    /** What is compared with the bound, and which way. */
    public enum Kind {
        /** The value divided by the baseline's. */
        RATIO_AT_LEAST("ratio at least"),
        /** The value itself. */
        VALUE_AT_MOST("value at most");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /**
         * Returns the kind in words.
         *
         * @return what goes before the bound
         */
        public String text() {
            return text;
        }
    }

    /**
     * Returns a target for the value divided by the baseline's.
     *
     * @param bound the least ratio
     * @return the target
     */
    public static Target ratioAtLeast(double bound) {
        return new Target(Kind.RATIO_AT_LEAST, bound);
    }

    /**
     * Returns a target for the value itself.
     *
     * @param bound the greatest value
     * @return the target
     */
    public static Target valueAtMost(double bound) {
        return new Target(Kind.VALUE_AT_MOST, bound);
    }

    boolean isMet(double value, double ratio) {
        return kind == Kind.RATIO_AT_LEAST ? ratio >= bound : value <= bound;
    }

    @Override
    public String toString() {
        return kind.text() + " " + String.format(Locale.ROOT, bound == Math.rint(bound) ? "%.0f" : "%.2f", bound);
    }
}
