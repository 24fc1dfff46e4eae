package dev.idempotency.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Takes each transaction rule away, on the real stores, and shows the case that turns red; with the rule in force the same
 * case is green. Prints the list rule, case.
 */
final class RuleCasesIT {
    private static final String TRANSACTIONAL = "operation transactional, PostgreSQL";
    private static final String RUN_AGAIN = "operation leased run again, PostgreSQL";
    private static final String REPORT_UNKNOWN = "operation leased report unknown, PostgreSQL";
    private static final List<String> lines = new ArrayList<>();

    @TempDir
    private static Path folder;

    private static Bench bench;

    @BeforeAll
    static void open() {
        bench = new Bench(folder);
    }

    @AfterAll
    static void close() throws Exception {
        bench.close();
        System.out.println(lines.stream().map(line -> "Rule -> case  " + line).collect(Collectors.joining("\n")));
    }

    @TestFactory
    Stream<DynamicTest> rule_takenAway_itsCaseTurnsRed() {
        return cases().stream()
                .map(each -> DynamicTest.dynamicTest(each.mutant().rule() + " " + each.mutant(), () -> show(each)));
    }

    @Test
    void mutants_takeEveryRuleAway() {
        List<String> rules = cases().stream().map(each -> each.mutant().rule()).toList();
        assertThat(rules)
                .containsAll(IntStream.rangeClosed(1, 12)
                        .mapToObj(each -> "T" + each)
                        .toList());
    }

    private static void show(RuleCase each) throws Exception {
        Optional<String> broken = each.look().violation(each.mutant());
        assertThat(broken)
                .as(
                        "%s is taken away (%s) and must be found by: %s",
                        each.mutant().rule(), each.mutant().text(), each.text())
                .isPresent();
        assertThat(each.look().violation(Mutant.NONE)).as(each.text()).isEmpty();
        lines.add("%-4s %s%n                  case   %s%n                  found  %s"
                .formatted(each.mutant().rule(), each.mutant().text(), each.text(), broken.orElseThrow()));
    }

    private static List<RuleCase> cases() {
        return List.of(
                matrix(Mutant.EFFECT_ELSEWHERE, TRANSACTIONAL, Crash.CUT, "operation.completed"),
                new RuleCase(
                        Mutant.LAST_STATEMENT_IGNORED,
                        TRANSACTIONAL + ", work that swallows an SQL error",
                        mutant -> Undisturbed.swallowedError(bench, mutant)),
                matrix(Mutant.COMMIT_IGNORED, TRANSACTIONAL, Crash.CUT, "operation.committing"),
                matrix(Mutant.DUPLICATE_RUNS, TRANSACTIONAL, Crash.LOST_ANSWER, "operation.committing"),
                matrix(Mutant.COMPLETION_UNFENCED, RUN_AGAIN, Crash.STOP, "operation.effect-done"),
                matrix(Mutant.UNKNOWN_IS_FAILED, TRANSACTIONAL, Crash.LOST_ANSWER, "operation.committing"),
                matrix(Mutant.RELEASED_AFTER_EFFECT, REPORT_UNKNOWN, Crash.LOST_ANSWER, "operation.effect-done"),
                matrix(Mutant.FAST_CLOCK, RUN_AGAIN, Crash.STOP, "work.done"),
                matrix(Mutant.UNBOUNDED, TRANSACTIONAL, Crash.STOP, "operation.effect-done"),
                matrix(Mutant.BUSY_IS_FREE, TRANSACTIONAL, Crash.STOP, "operation.effect-done"),
                new RuleCase(
                        Mutant.FOLDED_KEYS,
                        TRANSACTIONAL + ", two keys that differ in case",
                        mutant -> Undisturbed.twoCases(bench, mutant)),
                new RuleCase(
                        Mutant.UNSORTED,
                        "event store, PostgreSQL, two batches of the same events in two orders",
                        mutant -> Undisturbed.twoOrders(bench, mutant)));
    }

    private static RuleCase matrix(Mutant mutant, String subject, Crash crash, String step) {
        return new RuleCase(
                mutant,
                new Case(Subjects.named(subject), step, crash, mutant).text(),
                chosen -> CaseRun.run(bench, new Case(Subjects.named(subject), step, crash, chosen))
                        .violation());
    }

    /**
     * A mutant and the case that finds it.
     *
     * @param mutant the rule taken away
     * @param text the case
     * @param look runs the case with all rules in force or with one taken away, and says what is wrong
     */
    private record RuleCase(Mutant mutant, String text, Look look) {}

    @FunctionalInterface
    private interface Look {
        Optional<String> violation(Mutant mutant) throws Exception;
    }
}
