package dev.idempotency.benchmarks.store;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.Effects;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** One insert, with and without a key. Safe for use by many threads. */
final class OperationForms implements AutoCloseable {
    static final Scope SCOPE = Scope.ofPrincipal("customer-1", "POST /orders");
    static final Fingerprint FINGERPRINT = Fingerprint.sha256("bench", "an order".getBytes(StandardCharsets.UTF_8));

    private static final byte[] BODY = "{\"orderId\":\"0190a3f2-7c1e-7d3a-8a57-0c5b5d3f1f10\",\"state\":\"placed\"}"
            .getBytes(StandardCharsets.UTF_8);
    private static final int REPEATED_KEYS = 1_000;

    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final DataSource pool;
    private final Idempotency idempotency;
    private final List<UUID> repeatedKeys;

    OperationForms(BenchDatabase database) throws SQLException {
        this.pool = database.pool();
        JdbiIdempotencyStore store = JdbiIdempotencyStore.of(pool);
        this.idempotency = Idempotency.builder()
                .transactional(store, JdbiTransactionRunner.of(pool))
                .leased(store)
                .build();
        database.jdbi().useHandle(handle -> handle.execute("""
                CREATE TABLE bench_naive_record (
                    idempotency_key varchar(255) PRIMARY KEY,
                    status integer NOT NULL,
                    body bytea NOT NULL
                )
                """));
        this.repeatedKeys = ids.next(REPEATED_KEYS);
        for (UUID key : repeatedKeys) {
            transactional(key);
            Effects.inBareTransaction(pool, connection -> saveNaively(connection, key));
        }
    }

    void bare() throws SQLException {
        UUID source = ids.next();
        Effects.inBareTransaction(pool, connection -> Effects.insert(connection, source));
    }

    void transactional() throws SQLException {
        transactional(ids.next());
    }

    private void transactional(UUID key) throws SQLException {
        OperationOutcome outcome = idempotency.execute(operation(key, Protection.TRANSACTIONAL), context -> {
            Effects.insert(context.transaction().orElseThrow().unwrap(Connection.class), key);
            return answer();
        });
        requireExecuted(outcome);
    }

    void leased() throws SQLException {
        UUID key = ids.next();
        OperationOutcome outcome = idempotency.execute(operation(key, Protection.LEASED), context -> {
            Effects.inBareTransaction(pool, connection -> Effects.insert(connection, key));
            return answer();
        });
        requireExecuted(outcome);
    }

    /** Looks first, runs then, saves the answer last: what two requests at once, or a crash, defeat. */
    void naive() throws SQLException {
        UUID key = ids.next();
        try (Connection connection = pool.getConnection()) {
            if (isKnown(connection, key)) {
                throw new IllegalStateException("A new key was found");
            }
        }
        Effects.inBareTransaction(pool, connection -> Effects.insert(connection, key));
        try (Connection connection = pool.getConnection()) {
            saveNaively(connection, key);
        }
    }

    void lookUp() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            if (!isKnown(connection, anyRepeatedKey())) {
                throw new IllegalStateException("A key that was saved was not found");
            }
        }
    }

    void replay() throws SQLException {
        replay(anyRepeatedKey());
    }

    void replay(UUID key) {
        OperationOutcome outcome = idempotency.execute(operation(key, Protection.TRANSACTIONAL), context -> {
            throw new IllegalStateException("The work ran again");
        });
        if (!(outcome instanceof OperationOutcome.Replayed)) {
            throw new IllegalStateException("A repeat was to be answered by the record, but got " + outcome);
        }
    }

    private UUID anyRepeatedKey() {
        return repeatedKeys.get(ThreadLocalRandom.current().nextInt(repeatedKeys.size()));
    }

    private static Operation operation(UUID key, Protection protection) {
        return Operation.of(new RecordId(SCOPE, IdempotencyKey.of(key.toString())), FINGERPRINT, protection);
    }

    private static WorkResult answer() {
        return new WorkResult.Succeeded(new RecordedResult.Replayable(201, new byte[0], BODY));
    }

    private static void requireExecuted(OperationOutcome outcome) {
        if (!(outcome instanceof OperationOutcome.Executed)) {
            throw new IllegalStateException("A new key was to run, but got " + outcome);
        }
    }

    private static boolean isKnown(Connection connection, UUID key) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT status, body FROM bench_naive_record WHERE idempotency_key = ?")) {
            statement.setString(1, key.toString());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() && rows.getBytes(2).length > 0;
            }
        }
    }

    private static void saveNaively(Connection connection, UUID key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "INSERT INTO bench_naive_record (idempotency_key, status, body) VALUES (?, 201, ?)")) {
            statement.setString(1, key.toString());
            statement.setBytes(2, BODY);
            statement.executeUpdate();
        }
    }

    @Override
    public void close() {
        idempotency.close();
    }
}
