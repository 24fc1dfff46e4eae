package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.idempotency.Idempotency;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordedResult;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.process.CrashPoint;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import dev.idempotency.transaction.TransactionLimits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process is killed (SIGKILL) while it stands between two of the steps claim, effect, completion, commit, answer; then the
 * client tries again with the same key. What happened is read from the database, not asked of the code under test.
 */
class OperationCrashIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final String EFFECT_TABLE =
            "CREATE TABLE effect (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                    + " operation_key VARCHAR(255) NOT NULL, derived_key VARCHAR(255) NOT NULL)";

    private static PostgreSqlDatabase database;

    @TempDir
    Path folder;

    @BeforeAll
    static void createDatabase() throws SQLException {
        database = EmbeddedPostgreSql.shared().createDatabase();
        prepare(database.dataSource());
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    /**
     * One operation and the step at which its process dies.
     *
     * @param expected what the retry leads to
     * @param effectsBefore how many effects there are when the process has died
     * @param effectsAfter how many there are after the retry
     */
    private record Death(
            String key,
            AbandonedPolicy policy,
            CrashPoint point,
            String expected,
            int effectsBefore,
            int effectsAfter) {
        /** With one commit, all or nothing: what is committed is replayed, and everything else runs again. */
        static Death transactional(String prefix, String step, boolean committed) {
            return new Death(
                    prefix + "-" + step,
                    AbandonedPolicy.REPORT_UNKNOWN,
                    CrashPoint.holdAt(step),
                    committed ? "Replayed" : "Executed",
                    committed ? 1 : 0,
                    1);
        }

        static Death leased(String step, int occurrence, int effectsBefore, String expected) {
            return new Death(
                    "leased-" + step + "-" + occurrence,
                    AbandonedPolicy.REPORT_UNKNOWN,
                    CrashPoint.holdAt(step).occurrence(occurrence),
                    expected,
                    effectsBefore,
                    expected.equals("Executed") ? effectsBefore + 1 : effectsBefore);
        }

        static Death leasedToRunAgain(String step, int effectsBefore) {
            return new Death(
                    "again-" + step,
                    AbandonedPolicy.RUN_AGAIN,
                    CrashPoint.holdAt(step),
                    "Executed",
                    effectsBefore,
                    effectsBefore + 1);
        }

        boolean isAcknowledgeable() {
            return expected.equals("Replayed");
        }

        Death round(int round) {
            return new Death(key + "-" + round, policy, point, expected, effectsBefore, effectsAfter);
        }
    }

    private static final List<Death> TRANSACTIONAL = transactional("tx");

    private static List<Death> transactional(String prefix) {
        return List.of(
                Death.transactional(prefix, "operation.begun", false),
                Death.transactional(prefix, "operation.claimed", false),
                Death.transactional(prefix, "work.done", false),
                Death.transactional(prefix, "operation.effect-done", false),
                Death.transactional(prefix, "operation.completed", false),
                Death.transactional(prefix, "operation.committing", false),
                Death.transactional(prefix, "connection.committing", false),
                Death.transactional(prefix, "connection.committed", true),
                Death.transactional(prefix, "operation.committed", true),
                Death.transactional(prefix, "operation.answering", true),
                Death.transactional(prefix, "operation.answered", true));
    }

    /** The first commit is that of the claim, the second that of the completion. */
    private static final List<Death> LEASED = List.of(
            Death.leased("operation.claiming", 1, 0, "Executed"),
            Death.leased("connection.committing", 1, 0, "Executed"),
            Death.leased("connection.committed", 1, 0, "Abandoned"),
            Death.leased("operation.claimed", 1, 0, "Abandoned"),
            Death.leased("work.done", 1, 1, "Abandoned"),
            Death.leased("operation.effect-done", 1, 1, "Abandoned"),
            Death.leased("connection.committing", 2, 1, "Abandoned"),
            Death.leased("connection.committed", 2, 1, "Replayed"),
            Death.leased("operation.completed", 1, 1, "Replayed"),
            Death.leased("operation.answering", 1, 1, "Replayed"),
            Death.leased("operation.answered", 1, 1, "Replayed"),
            Death.leasedToRunAgain("operation.claimed", 0),
            Death.leasedToRunAgain("work.done", 1),
            Death.leasedToRunAgain("operation.effect-done", 1));

    @TestFactory
    Stream<DynamicTest> transactional_killedAt_retryEndsWithOneEffect() {
        return rounds(database.url(), database.dataSource(), Protection.TRANSACTIONAL, TRANSACTIONAL);
    }

    /** Under RUN_AGAIN the work runs a second time, with the same derived key, so that a provider sees one call. */
    @TestFactory
    Stream<DynamicTest> leased_killedAt_neverRunsUnasked() {
        return rounds(database.url(), database.dataSource(), Protection.LEASED, LEASED);
    }

    @TestFactory
    Stream<DynamicTest> transactional_onAnH2File_killedAt_retryEndsWithOneEffect() throws SQLException {
        // Without WRITE_DELAY=0, H2 keeps a commit in memory for up to half a second before it writes it to the file.
        String url = "jdbc:h2:file:" + folder.resolve("orders") + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE";
        DataSource dataSource = OperationChild.dataSource(url);
        prepare(dataSource);
        return rounds(url, dataSource, Protection.TRANSACTIONAL, transactional("h2"));
    }

    /** In one process that dies once; in the full profile also one by one, each in a process of its own. */
    private static Stream<DynamicTest> rounds(
            String url, DataSource dataSource, Protection protection, List<Death> deaths) {
        List<List<Death>> processes = new ArrayList<>();
        processes.add(deaths);
        if (System.getProperty("idempotency.profile", "ci").equals("full")) {
            for (int round = 1; round <= 3; round++) {
                for (Death death : deaths) {
                    processes.add(List.of(death.round(round)));
                }
            }
        }
        return processes.stream().flatMap(together -> {
            kill(url, protection, together);
            return together.stream()
                    .map(death -> dynamicTest(death.key(), () -> verify(dataSource, protection, death)));
        });
    }

    /** Kills the process when each of its operations stands at its step. */
    private static void kill(String url, Protection protection, List<Death> deaths) {
        try (ChildJvm child =
                child(url, protection, TransactionLimits.ofDefaults().idle(), deaths)) {
            for (int held = 0; held < deaths.size(); held++) {
                child.awaitHeld(SOON);
            }
            child.kill();
            for (Death death : deaths) {
                if (!death.isAcknowledgeable()) {
                    assertThat(child.lines()).noneMatch(line -> line.startsWith(OperationChild.ANSWERED + death.key()));
                }
            }
        }
    }

    private static void verify(DataSource dataSource, Protection protection, Death death) throws Exception {
        assertThat(effects(dataSource, death.key()))
                .as("effects after the kill")
                .isEqualTo(death.effectsBefore());
        OperationOutcome outcome = retryAsAClient(dataSource, protection, death.policy(), death.key());
        assertThat(outcome.getClass().getSimpleName()).isEqualTo(death.expected());
        assertThat(effects(dataSource, death.key()))
                .as("effects after the retry")
                .isEqualTo(death.effectsAfter());
        if (!death.expected().equals("Abandoned")) {
            assertThat(derivedKeys(dataSource, death.key())).isEqualTo(1);
            assertReplayed(dataSource, protection, death.key());
        }
    }

    @Test
    void transactional_stopped_notKilled_keyIsFreeWithinTheBound() throws Exception {
        Death stopped = Death.transactional("stopped", "operation.effect-done", false);
        Duration idle = Duration.ofSeconds(2);
        try (ChildJvm child = child(database.url(), Protection.TRANSACTIONAL, idle, List.of(stopped))) {
            child.awaitHeld(SOON);
            child.stop();
            long stoppedAt = System.nanoTime();
            // Nobody closes the socket of a stopped process: only the server's own bound on idle transactions frees the
            // key.
            OperationOutcome outcome = retryAsAClient(
                    database.dataSource(), Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, stopped.key());
            System.out.printf(
                    "SIGSTOP under TRANSACTIONAL, bound %s: the key was free after %d ms%n",
                    idle, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - stoppedAt));
            assertThat(outcome).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(effects(database.dataSource(), stopped.key())).isEqualTo(1);
            child.resume();
            child.release();
            child.awaitExit(SOON);
            assertThat(child.lines()).doesNotContain(OperationChild.ANSWERED + stopped.key() + " Executed");
        }
        assertThat(effects(database.dataSource(), stopped.key())).isEqualTo(1);
    }

    @Test
    void leased_pausedBeyondItsLease_cannotCompleteOverItsSuccessor() throws Exception {
        Death paused = new Death(
                "leased-paused",
                AbandonedPolicy.RUN_AGAIN,
                CrashPoint.holdAt("operation.effect-done"),
                "Executed",
                1,
                2);
        Duration idle = TransactionLimits.ofDefaults().idle();
        try (ChildJvm child = child(database.url(), Protection.LEASED, idle, List.of(paused))) {
            child.awaitHeld(SOON);
            child.stop();
            OperationOutcome outcome =
                    retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.RUN_AGAIN, paused.key());
            assertThat(outcome).isInstanceOf(OperationOutcome.Executed.class);
            child.resume();
            child.release();
            assertThat(child.awaitLineWith(OperationChild.ANSWERED + paused.key() + " ", SOON))
                    .isNotEqualTo("Executed");
        }
        assertThat(derivedKeys(database.dataSource(), paused.key())).isEqualTo(1);
        assertReplayed(database.dataSource(), Protection.LEASED, paused.key());
    }

    private static ChildJvm child(String url, Protection protection, Duration idle, List<Death> deaths) {
        ChildJvm.Builder child = ChildJvm.of(OperationChild.class).arguments(url, protection, idle);
        for (Death death : deaths) {
            CrashPoint point = death.point();
            child.arguments(death.policy(), death.key())
                    .crashAt(CrashPoint.holdAt(OperationChild.step(death.key(), point.step()))
                            .occurrence(point.occurrence()));
        }
        return child.start();
    }

    /** Asks again, as told, until there is an answer. */
    private static OperationOutcome retryAsAClient(
            DataSource dataSource, Protection protection, AbandonedPolicy policy, String key) throws Exception {
        Operation operation = OperationChild.operation(protection, policy, key);
        try (Idempotency idempotency =
                OperationChild.engine(dataSource, TransactionLimits.ofDefaults().idle(), step -> {})) {
            return Awaitility.await()
                    .atMost(SOON)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(100, TimeUnit.MILLISECONDS)
                    .until(
                            () -> OperationChild.run(idempotency, operation, dataSource, step -> {}),
                            outcome -> !(outcome instanceof OperationOutcome.InProgress));
        }
    }

    private static void assertReplayed(DataSource dataSource, Protection protection, String key) throws Exception {
        OperationOutcome outcome = retryAsAClient(dataSource, protection, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome)
                .isEqualTo(new OperationOutcome.Replayed(new RecordedResult.Replayable(
                        201, new byte[0], ("receipt of " + key).getBytes(StandardCharsets.UTF_8))));
    }

    private static void prepare(DataSource dataSource) throws SQLException {
        SchemaInstaller.of(dataSource).install();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(EFFECT_TABLE);
        }
    }

    private static int effects(DataSource dataSource, String key) throws SQLException {
        return count(dataSource, "SELECT count(*) FROM effect WHERE operation_key = ?", key);
    }

    private static int derivedKeys(DataSource dataSource, String key) throws SQLException {
        return count(dataSource, "SELECT count(DISTINCT derived_key) FROM effect WHERE operation_key = ?", key);
    }

    private static int count(DataSource dataSource, String sql, String key) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                assertThat(rows.next()).isTrue();
                return rows.getInt(1);
            }
        }
    }
}
