package dev.idempotency.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class HarnessTest {
    private static final Metric RATE = Metric.rate("things");
    private static final Metric BYTES = new Metric("log", "bytes");

    private final List<String> turns = new ArrayList<>();

    @Test
    void run_twoForms_takesThemInTurnAndCountsNotTheFirst() throws Exception {
        Harness harness = harness(false, 5, "");

        harness.run(
                contest(List.of(900.0, 10.0, 14.0, 11.0, 30.0, 12.0), List.of(900.0, 20.0, 20.0, 22.0, 24.0, 40.0)));

        assertThat(turns).containsExactly("a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "b");
        Row row = harness.rows().get(0);
        assertThat(row.name()).isEqualTo("contest: a");
        assertThat(row.runs()).isEqualTo(5);
        assertThat(row.value()).isEqualTo(new Spread(12, 10, 30));
        Row.Comparison comparison = Objects.requireNonNull(row.comparison());
        assertThat(comparison.baseline()).isEqualTo("b");
        assertThat(comparison.value()).isEqualTo(new Spread(22, 20, 40));
        assertThat(comparison.ratio()).isCloseTo(12.0 / 22, within(1e-9));
        assertThat(comparison.ratios()).isEqualTo(new Spread(0.5, 0.3, 1.25));
    }

    @Test
    void run_quick_takesTheFirstTurn() throws Exception {
        Harness harness = harness(true, 1, "");

        harness.run(contest(List.of(7.0), List.of(14.0)));

        assertThat(turns).containsExactly("a", "b");
        assertThat(harness.rows().get(0).value()).isEqualTo(new Spread(7, 7, 7));
    }

    @Test
    void run_contestThatIsNotAskedFor_doesNothing() throws Exception {
        Harness harness = harness(false, 5, "other");

        harness.run(contest(List.of(), List.of()));

        assertThat(turns).isEmpty();
        assertThat(harness.rows()).isEmpty();
    }

    @Test
    void met_comparesWithTheBound() {
        assertThat(row(Target.ratioAtLeast(0.95), 0.95).met()).isTrue();
        assertThat(row(Target.ratioAtLeast(0.95), 0.94).met()).isFalse();
        assertThat(row(Target.valueAtMost(10), 3).met()).isTrue();
        assertThat(row(Target.valueAtMost(9.9), 3).met()).isFalse();
    }

    @Test
    void contest_figureOfAFormThatIsNotThere_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Contest(
                        "contest",
                        List.of(new Form("a", () -> Sample.of(RATE, 1))),
                        List.of(Figure.against("a", "c", RATE))))
                .withMessage("The contest contest has no such forms: a, c");
    }

    @Test
    void json_hasWhatProgramsReadAndSaysWhatWasMissed() throws IOException {
        List<Row> rows = List.of(
                row(Target.ratioAtLeast(0.95), 0.5),
                new Row("suite", "alone", "ms", new Spread(1, 1, 1), null, null, 5));
        Machine machine = Machine.now(settings(false, 5, ""));

        JsonNode json = new ObjectMapper().readTree(Reports.json(rows, machine));

        assertThat(json.get(0).get("suite").asText()).isEqualTo("suite");
        assertThat(json.get(0).get("case").asText()).isEqualTo("contest: a");
        assertThat(json.get(0).get("baseline").asText()).isEqualTo("b");
        assertThat(json.get(0).get("unit").asText()).isEqualTo("things/s");
        assertThat(json.get(0).get("value").asDouble()).isEqualTo(10);
        assertThat(json.get(0).get("baselineValue").asDouble()).isEqualTo(20);
        assertThat(json.get(0).get("ratio").asDouble()).isEqualTo(0.5);
        assertThat(json.get(0).get("target").asDouble()).isEqualTo(0.95);
        assertThat(json.get(0).get("met").asBoolean()).isFalse();
        assertThat(json.get(0).get("range").get(0).asDouble()).isEqualTo(9);
        assertThat(json.get(1).get("baseline").isNull()).isTrue();
        assertThat(json.get(1).get("ratio").isNull()).isTrue();
        assertThat(json.get(1).get("target").isNull()).isTrue();
        assertThat(json.get(1).get("met").isNull()).isTrue();
        assertThat(Reports.table("suite", rows, machine))
                .contains("MISSED")
                .endsWith("RESULT suite=suite figures=2 targets=1 missed=1" + System.lineSeparator());
    }

    @Test
    void spread_ofAnEvenNumber_isTheMeanOfTheTwoInTheMiddle() {
        assertThat(Spread.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Spread(2.5, 1, 4));
    }

    @Test
    void perSecond_stepThatFails_failsWithItsException() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Load.perSecond(2, Duration.ofMillis(50), () -> {
                    throw new IllegalStateException("broken");
                }))
                .withMessage("broken");
    }

    private Contest contest(List<Double> a, List<Double> b) {
        return new Contest(
                "contest",
                List.of(form("a", a.iterator()), form("b", b.iterator())),
                List.of(Figure.against("a", "b", RATE)));
    }

    private Form form(String name, Iterator<Double> values) {
        return new Form(name, () -> {
            turns.add(name);
            return Sample.of(RATE, values.next()).and(BYTES, 1);
        });
    }

    private static Row row(Target target, double ratio) {
        return new Row(
                "suite",
                "contest: a",
                "things/s",
                new Spread(10, 9, 11),
                new Row.Comparison("b", new Spread(20, 19, 21), ratio, new Spread(ratio, ratio, ratio)),
                target,
                5);
    }

    private static Harness harness(boolean quick, int runs, String only) {
        Settings settings = settings(quick, runs, only);
        return new Harness("suite", settings, Machine.now(settings));
    }

    private static Settings settings(boolean quick, int runs, String only) {
        return new Settings(quick, runs, Duration.ofMillis(10), 10_000, 2, only);
    }
}
