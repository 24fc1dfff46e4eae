package dev.idempotency.jdbi;

import static dev.idempotency.jdbi.EngineUnderTest.answer;
import static dev.idempotency.jdbi.EngineUnderTest.newOperation;
import static dev.idempotency.jdbi.EngineUnderTest.succeeded;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordFormat;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What really stands in the table when keys are hashed and answers compressed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlRecordFormatContract {
    private static final String TEXT = "an answer of many words ".repeat(200);

    private TestDatabase database;
    private EngineUnderTest engine;

    abstract TestDatabase open();

    /** The key as text, in the dialect. */
    abstract String keyColumn();

    @BeforeAll
    void start() {
        database = open();
        engine = new EngineUnderTest(
                database,
                options -> options.records(
                        RecordFormat.ofDefaults().withHashedKeys().withCompression()));
    }

    @AfterAll
    void close() {
        engine.close();
        database.close();
    }

    @BeforeEach
    void empty() {
        database.execute("DELETE FROM idempotency_record");
    }

    @ParameterizedTest
    @EnumSource
    void record_hashedAndCompressed_isReplayedAndForgotten(Protection protection) throws SQLException {
        Operation operation = newOperation(protection);
        EngineUnderTest.Charging charging = engine.charging(operation, context -> succeeded(TEXT));
        assertThat(engine.execute(operation, charging)).isInstanceOf(OperationOutcome.Executed.class);

        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT " + keyColumn() + ", OCTET_LENGTH(result_body) FROM idempotency_record")) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString(1)).matches("[0-9a-f]{64}");
            assertThat(row.getInt(2)).isLessThan(TEXT.length() / 10);
            assertThat(row.next()).isFalse();
        }
        assertThat(engine.execute(operation, charging)).isEqualTo(new OperationOutcome.Replayed(answer(TEXT)));
        assertThat(engine.idempotency()
                        .forget(operation.id().scope(), operation.id().key()))
                .isTrue();
        assertThat(engine.execute(operation, charging)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(charging.runs()).isEqualTo(2);
        assertThat(engine.idempotency().forgetCaller(operation.id().scope())).isEqualTo(1);
    }
}
