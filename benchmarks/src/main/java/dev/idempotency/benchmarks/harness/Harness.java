package dev.idempotency.benchmarks.harness;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs the contests of one suite and keeps what they measured. Used by one thread. */
public final class Harness {
    private final String suite;
    private final Settings settings;
    private final Machine machine;
    private final List<Row> rows = new ArrayList<>();

    /**
     * Makes a harness without rows.
     *
     * @param suite the suite's name
     * @param settings how to measure
     * @param machine what it is measured on
     */
    public Harness(String suite, Settings settings, Machine machine) {
        this.suite = suite;
        this.settings = settings;
        this.machine = machine;
    }

    /**
     * Returns how to measure.
     *
     * @return the settings
     */
    public Settings settings() {
        return settings;
    }

    /**
     * Tells whether a contest of this name is asked for; before preparing what only that contest needs.
     *
     * @param contest the contest's name
     * @return true if so
     */
    public boolean wants(String contest) {
        return contest.contains(settings.only());
    }

    /**
     * Adds something to what reports say of the machine.
     *
     * @param name what it is, for instance PostgreSQL
     * @param value its version and settings
     */
    public void note(String name, String value) {
        machine.note(name, value);
    }

    /**
     * Runs all forms in turn, as often as the settings say, after one turn that is not counted; does nothing if the
     * contest is not asked for.
     *
     * @param contest the forms and what to report of them
     * @throws Exception what a form threw
     */
    public void run(Contest contest) throws Exception {
        if (!wants(contest.name())) {
            return;
        }
        Map<String, List<Sample>> samples = new HashMap<>();
        for (int turn = settings.quick() ? 1 : 0; turn <= settings.runs(); turn++) {
            System.err.println(suite + ": " + contest.name()
                    + (turn == 0 ? ", warming up" : ", run " + turn + " of " + settings.runs()));
            for (Form form : contest.forms()) {
                Sample sample = form.trial().run();
                if (turn > 0) {
                    samples.computeIfAbsent(form.name(), name -> new ArrayList<>())
                            .add(sample);
                }
            }
        }
        for (Figure figure : contest.figures()) {
            rows.add(row(contest, figure, samples));
        }
    }

    /**
     * Returns what has been measured.
     *
     * @return the rows, in the order of the contests and their figures
     */
    public List<Row> rows() {
        return List.copyOf(rows);
    }

    private Row row(Contest contest, Figure figure, Map<String, List<Sample>> samples) {
        Metric metric = figure.metric();
        List<Double> values = values(samples, figure.form(), metric);
        Spread spread = Spread.of(values);
        Row.Comparison comparison = null;
        String baseline = figure.baseline();
        if (baseline != null) {
            List<Double> others = values(samples, baseline, metric);
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < values.size(); i++) {
                ratios.add(values.get(i) / others.get(i));
            }
            Spread other = Spread.of(others);
            comparison = new Row.Comparison(baseline, other, spread.median() / other.median(), Spread.of(ratios));
        }
        String name =
                contest.name() + ": " + figure.form() + (metric.name().equals(Metric.RATE) ? "" : ", " + metric.name());
        return new Row(suite, name, metric.unit(), spread, comparison, figure.target(), values.size());
    }

    private static List<Double> values(Map<String, List<Sample>> samples, String form, Metric metric) {
        return samples.getOrDefault(form, List.of()).stream()
                .map(sample -> sample.value(metric))
                .toList();
    }
}
