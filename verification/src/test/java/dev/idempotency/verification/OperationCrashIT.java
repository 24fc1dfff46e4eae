package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({
        "operation.begun, false",
        "operation.claimed, false",
        "work.done, false",
        "operation.effect-done, false",
        "operation.completed, false",
        "operation.committing, false",
        "connection.committing, false",
        "connection.committed, true",
        "operation.committed, true",
        "operation.answering, true",
        "operation.answered, true"
    })
    void transactional_killedAt_retryEndsWithOneEffect(String step, boolean committed) throws Exception {
        String key = "tx-" + step;
        try (ChildJvm child =
                child(database.url(), Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, key, step)) {
            child.awaitHeld(SOON);
            assertThat(effects(database.dataSource(), key)).isEqualTo(committed ? 1 : 0);
            child.kill();
            assertAcknowledgedOnlyAfterCommit(child, committed);
        }
        OperationOutcome outcome =
                retryAsAClient(database.dataSource(), Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome).isInstanceOf(committed ? OperationOutcome.Replayed.class : OperationOutcome.Executed.class);
        assertThat(effects(database.dataSource(), key)).isEqualTo(1);
        assertReplayed(database.dataSource(), Protection.TRANSACTIONAL, key);
    }

    @Test
    void transactional_stopped_notKilled_keyIsFreeWithinTheBound() throws Exception {
        String key = "tx-stopped";
        try (ChildJvm child = child(
                database.url(),
                Protection.TRANSACTIONAL,
                AbandonedPolicy.REPORT_UNKNOWN,
                key,
                "operation.effect-done")) {
            child.awaitHeld(SOON);
            child.stop();
            // Nobody closes the socket of a stopped process: only the server's own bound on idle transactions frees the
            // key.
            OperationOutcome outcome = retryAsAClient(
                    database.dataSource(), Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, key);
            assertThat(outcome).isInstanceOf(OperationOutcome.Executed.class);
            assertThat(effects(database.dataSource(), key)).isEqualTo(1);
            child.resume();
            child.release();
            child.awaitExit(SOON);
            assertThat(child.lines()).doesNotContain(OperationChild.ANSWERED + "Executed");
        }
        assertThat(effects(database.dataSource(), key)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "operation.claiming, 0, Executed",
        "operation.claimed, 0, Abandoned",
        "work.done, 1, Abandoned",
        "operation.effect-done, 1, Abandoned",
        "operation.completed, 1, Replayed",
        "operation.answering, 1, Replayed",
        "operation.answered, 1, Replayed"
    })
    void leased_killedAt_reportUnknown_neverASecondEffect(String step, int effectsBefore, String expected)
            throws Exception {
        String key = "leased-" + step;
        try (ChildJvm child = child(database.url(), Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key, step)) {
            child.awaitHeld(SOON);
            child.kill();
            assertAcknowledgedOnlyAfterCommit(child, expected.equals("Replayed"));
        }
        assertThat(effects(database.dataSource(), key)).isEqualTo(effectsBefore);
        OperationOutcome outcome =
                retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome.getClass().getSimpleName()).isEqualTo(expected);
        assertThat(effects(database.dataSource(), key)).isEqualTo(expected.equals("Executed") ? 1 : effectsBefore);
    }

    @ParameterizedTest
    @CsvSource({
        "1, Executed", // the commit of the claim
        "2, Abandoned" // the commit of the completion
    })
    void leased_killedBeforeTheCommit_isAsIfTheStatementHadNotBeen(int commit, String expected) throws Exception {
        String key = "leased-before-commit-" + commit;
        CrashPoint point = CrashPoint.holdAt("connection.committing").occurrence(commit);
        killAt(Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key, point);
        OperationOutcome outcome =
                retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome.getClass().getSimpleName()).isEqualTo(expected);
        assertThat(effects(database.dataSource(), key)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "1, Abandoned, 0", // the commit of the claim
        "2, Replayed, 1" // the commit of the completion
    })
    void leased_killedAfterTheCommit_isAsIfItHadBeenAnswered(int commit, String expected, int effects)
            throws Exception {
        String key = "leased-after-commit-" + commit;
        CrashPoint point = CrashPoint.holdAt("connection.committed").occurrence(commit);
        killAt(Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key, point);
        OperationOutcome outcome =
                retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome.getClass().getSimpleName()).isEqualTo(expected);
        assertThat(effects(database.dataSource(), key)).isEqualTo(effects);
    }

    @ParameterizedTest
    @CsvSource({"operation.claimed, 1", "work.done, 2", "operation.effect-done, 2"})
    void leased_killedAt_runAgain_sameDerivedKey_soAProviderSeesOne(String step, int calls) throws Exception {
        String key = "again-" + step;
        killAt(Protection.LEASED, AbandonedPolicy.RUN_AGAIN, key, CrashPoint.holdAt(step));
        OperationOutcome outcome =
                retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.RUN_AGAIN, key);
        assertThat(outcome).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(effects(database.dataSource(), key)).isEqualTo(calls);
        assertThat(derivedKeys(database.dataSource(), key)).isEqualTo(1);
        assertReplayed(database.dataSource(), Protection.LEASED, key);
    }

    @Test
    void leased_pausedBeyondItsLease_cannotCompleteOverItsSuccessor() throws Exception {
        String key = "leased-paused";
        try (ChildJvm child =
                child(database.url(), Protection.LEASED, AbandonedPolicy.RUN_AGAIN, key, "operation.effect-done")) {
            child.awaitHeld(SOON);
            child.stop();
            OperationOutcome outcome =
                    retryAsAClient(database.dataSource(), Protection.LEASED, AbandonedPolicy.RUN_AGAIN, key);
            assertThat(outcome).isInstanceOf(OperationOutcome.Executed.class);
            child.resume();
            child.release();
            assertThat(child.awaitLineWith(OperationChild.ANSWERED, SOON)).isNotEqualTo("Executed");
        }
        assertThat(derivedKeys(database.dataSource(), key)).isEqualTo(1);
        assertReplayed(database.dataSource(), Protection.LEASED, key);
    }

    @ParameterizedTest
    @CsvSource({
        "operation.claimed, false",
        "work.done, false",
        "operation.completed, false",
        "connection.committing, false",
        "connection.committed, true",
        "operation.committed, true",
        "operation.answered, true"
    })
    void transactional_onAnH2File_killedAt_retryEndsWithOneEffect(String step, boolean committed) throws Exception {
        // Without WRITE_DELAY=0, H2 keeps a commit in memory for up to half a second before it writes it to the file.
        String url = "jdbc:h2:file:" + folder.resolve("orders") + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE";
        DataSource dataSource = OperationChild.dataSource(url);
        prepare(dataSource);
        String key = "h2-" + step;
        try (ChildJvm child = child(url, Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, key, step)) {
            child.awaitHeld(SOON);
            child.kill();
            assertAcknowledgedOnlyAfterCommit(child, committed);
        }
        assertThat(effects(dataSource, key)).isEqualTo(committed ? 1 : 0);
        OperationOutcome outcome =
                retryAsAClient(dataSource, Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, key);
        assertThat(outcome).isInstanceOf(committed ? OperationOutcome.Replayed.class : OperationOutcome.Executed.class);
        assertThat(effects(dataSource, key)).isEqualTo(1);
    }

    private static void killAt(Protection protection, AbandonedPolicy policy, String key, CrashPoint point) {
        try (ChildJvm child = ChildJvm.of(OperationChild.class)
                .arguments(database.url(), protection, policy, key)
                .crashAt(point)
                .start()) {
            child.awaitHeld(SOON);
            child.kill();
        }
    }

    private static ChildJvm child(String url, Protection protection, AbandonedPolicy policy, String key, String step) {
        return ChildJvm.of(OperationChild.class)
                .arguments(url, protection, policy, key)
                .crashAt(CrashPoint.holdAt(step))
                .start();
    }

    /** Asks again, as told, until there is an answer. */
    private static OperationOutcome retryAsAClient(
            DataSource dataSource, Protection protection, AbandonedPolicy policy, String key) throws Exception {
        Operation operation = OperationChild.operation(protection, policy, key);
        try (Idempotency idempotency = OperationChild.engine(dataSource, step -> {})) {
            return Awaitility.await()
                    .atMost(SOON)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(200, TimeUnit.MILLISECONDS)
                    .until(
                            () -> OperationChild.run(idempotency, operation, dataSource, step -> {}),
                            outcome -> !(outcome instanceof OperationOutcome.InProgress));
        }
    }

    private static void assertAcknowledgedOnlyAfterCommit(ChildJvm child, boolean committed) {
        List<String> answers = child.lines().stream()
                .filter(line -> line.startsWith(OperationChild.ANSWERED))
                .toList();
        if (!committed) {
            assertThat(answers).isEmpty();
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
