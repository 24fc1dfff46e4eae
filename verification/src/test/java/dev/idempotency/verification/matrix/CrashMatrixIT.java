package dev.idempotency.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Each named step of each protocol, times each way to crash there. After the crash the client repeats, as it was told to;
 * what happened is read from the database and the broker, not asked of the code under test.
 *
 * <p>{@code -Didempotency.case=TEXT} runs the cases whose name holds the text, whatever the profile.
 */
final class CrashMatrixIT {
    private static final String CHOSEN = System.getProperty("idempotency.case", "");
    private static final Logger log = LoggerFactory.getLogger(CrashMatrixIT.class);
    private static final List<Verdict> verdicts = new ArrayList<>();

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
        Duration total = verdicts.stream().map(Verdict::took).reduce(Duration.ZERO, Duration::plus);
        System.out.println(verdicts.stream()
                .map(verdict -> "Crash matrix  " + verdict.line() + "\n")
                .collect(Collectors.joining()));
        System.out.printf(
                "Crash matrix  %d cases, %d wrong, %d s%n",
                verdicts.size(),
                verdicts.stream()
                        .filter(verdict -> verdict.violation().isPresent())
                        .count(),
                total.toSeconds());
    }

    @TestFactory
    Stream<DynamicContainer> crash_atEveryStep_effectsAreExactlyWhatIsAcknowledged() {
        Map<Subject, List<Case>> bySubject = chosen().stream()
                .collect(Collectors.groupingBy(Case::subject, LinkedHashMap::new, Collectors.toList()));
        return bySubject.entrySet().stream()
                .map(entry -> DynamicContainer.dynamicContainer(
                        entry.getKey().name(),
                        entry.getValue().stream().map(each -> DynamicTest.dynamicTest(each.text(), () -> run(each)))));
    }

    private static void run(Case each) throws Exception {
        Verdict verdict = CaseRun.run(bench, each);
        verdicts.add(verdict);
        log.debug("{}", verdict.describe());
        assertThat(verdict.violation()).as(verdict.describe()).isEmpty();
    }

    private static List<Case> chosen() {
        boolean full = System.getProperty("idempotency.profile", "ci").equals("full");
        return Subjects.cases().stream()
                .filter(each ->
                        CHOSEN.isEmpty() ? full || each.isUsual() : each.text().contains(CHOSEN))
                .toList();
    }

    @Test
    void matrix_isLargeEnough() {
        List<Case> cases = Subjects.cases();
        assertThat(cases).as("cases in profile full").hasSizeGreaterThanOrEqualTo(300);
        assertThat(cases.stream().filter(Case::isUsual).count())
                .as("cases in every build")
                .isGreaterThanOrEqualTo(60);
    }
}
