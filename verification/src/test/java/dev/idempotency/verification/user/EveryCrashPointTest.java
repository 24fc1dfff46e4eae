package dev.idempotency.verification.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.RecordedResult;
import dev.idempotency.WorkResult;
import dev.idempotency.event.ProcessedEvents;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.fault.EveryCrashPoint;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An application's test of its own handlers; the handlers that are wrong must be found. */
final class EveryCrashPointTest {
    private final JdbcDataSource database = new JdbcDataSource();

    @BeforeEach
    void createTables() throws SQLException {
        database.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        SchemaInstaller.of(database).install();
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "CREATE TABLE orders (id BIGINT GENERATED ALWAYS AS IDENTITY, order_key VARCHAR(255))")) {
            statement.execute();
        }
    }

    @Test
    void placeOrder_crashedAnywhere_placesOneOrder() {
        EveryCrashPoint.ofOperation(
                        database,
                        crashing -> Idempotency.builder()
                                .transactional(JdbiIdempotencyStore.of(crashing), JdbiTransactionRunner.of(crashing))
                                .build(),
                        this::placeOrder,
                        this::countOrders)
                .verify();
    }

    private WorkResult placeOrder(IdempotencyContext context) throws SQLException {
        insertOrder(
                context.transaction().orElseThrow().unwrap(Connection.class),
                context.id().key().value());
        return new WorkResult.Succeeded(new RecordedResult.Replayable(201, new byte[0], new byte[0]));
    }

    @Test
    void placeOrder_throughASecondDataSource_isFound() {
        EveryCrashPoint check = EveryCrashPoint.ofOperation(
                database, EveryCrashPointTest::engine, this::placeOrderElsewhere, this::countOrders);
        assertThatThrownBy(check::verify)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("write outside the transaction")
                .hasMessageContaining("connection cut before commit 1: 2 effects after the client has repeated")
                .hasMessageNotContaining("after commit 1");
    }

    /** The mistake: the pool that everybody in the application uses. */
    private WorkResult placeOrderElsewhere(IdempotencyContext context) throws SQLException {
        try (Connection connection = database.getConnection()) {
            insertOrder(connection, context.id().key().value());
        }
        return new WorkResult.Succeeded(new RecordedResult.Replayable(201, new byte[0], new byte[0]));
    }

    @Test
    void processOnce_crashedAnywhere_isProcessedOnce() {
        int points = EveryCrashPoint.of(database, EveryCrashPointTest::events, this::countOrders)
                .verify();
        assertThat(points).as("statements and commits, before and after").isGreaterThanOrEqualTo(6);
    }

    private static EveryCrashPoint.Service events(DataSource crashing) {
        ProcessedEvents events = ProcessedEvents.of(JdbiEventStore.of(crashing), ConsumerId.of("orders"));
        JdbiTransactionRunner runner = JdbiTransactionRunner.of(crashing);
        return key -> {
            events.processOnce(
                    runner,
                    EventId.of(key),
                    context -> insertOrder(context.transaction().unwrap(Connection.class), key));
            return true;
        };
    }

    @Test
    void service_thatAnswersBeforeTheCommit_isFound() {
        EveryCrashPoint check = EveryCrashPoint.of(
                database,
                crashing -> {
                    EveryCrashPoint.Service events = events(crashing);
                    return key -> {
                        try {
                            return events.call(key);
                        } catch (RuntimeException hasty) {
                            return true;
                        }
                    };
                },
                this::countOrders);
        assertThatThrownBy(check::verify).hasMessageContaining("before commit 1: acknowledged, and 0 effects");
    }

    @Test
    void service_thatDoesNotUseTheDataSource_isRefused() {
        EveryCrashPoint check = EveryCrashPoint.of(database, crashing -> events(database), this::countOrders);
        assertThatThrownBy(check::verify).hasMessageContaining("did not use the data source");
    }

    private static Idempotency engine(DataSource crashing) {
        return Idempotency.builder()
                .transactional(JdbiIdempotencyStore.of(crashing), JdbiTransactionRunner.of(crashing))
                .build();
    }

    private static void insertOrder(Connection connection, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO orders (order_key) VALUES (?)")) {
            statement.setString(1, key);
            statement.executeUpdate();
        }
    }

    private int countOrders(String key) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT count(*) FROM orders WHERE order_key = ?")) {
            statement.setString(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }
}
