package dev.idempotency.jdbi;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.OperationWork;
import dev.idempotency.Protection;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.WorkResult;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.transaction.JoiningDataSource;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** An engine on a database of its own, with faults beneath it and a work that inserts one effect. */
final class EngineUnderTest implements AutoCloseable {
    private final TestDatabase database;
    private final FaultInjectingDataSource faults;
    private final JoiningDataSource joining;
    private final Idempotency idempotency;

    EngineUnderTest(TestDatabase database, UnaryOperator<Idempotency.Builder> options) {
        this(database, options, JdbiIdempotencyStore::of);
    }

    EngineUnderTest(
            TestDatabase database,
            UnaryOperator<Idempotency.Builder> options,
            Function<DataSource, JdbiIdempotencyStore> stores) {
        this.database = database;
        this.faults = FaultInjectingDataSource.wrap(database.dataSource());
        this.joining = JoiningDataSource.of(faults);
        JdbiIdempotencyStore store = stores.apply(faults);
        this.idempotency = options.apply(Idempotency.builder()
                        .transactional(store, JdbiTransactionRunner.of(joining))
                        .leased(store))
                .build();
    }

    static Operation newOperation(Protection protection) {
        RecordId id = new RecordId(
                Scope.shared("charge"), IdempotencyKey.of(UUID.randomUUID().toString()));
        return Operation.of(id, fingerprint("amount=1"), protection);
    }

    static Operation withOtherFingerprint(Operation operation) {
        return Operation.of(operation.id(), fingerprint("amount=2"), operation.protection());
    }

    private static Fingerprint fingerprint(String text) {
        return Fingerprint.sha256("test", text.getBytes(StandardCharsets.UTF_8));
    }

    static Replayable answer(String text) {
        return new Replayable(201, new byte[0], text.getBytes(StandardCharsets.UTF_8));
    }

    static WorkResult succeeded(String text) {
        return new WorkResult.Succeeded(answer(text));
    }

    FaultInjectingDataSource faults() {
        return faults;
    }

    Idempotency idempotency() {
        return idempotency;
    }

    <X extends Exception> OperationOutcome execute(Operation operation, OperationWork<X> work) throws X {
        return idempotency.execute(operation, work);
    }

    /** Inserts the effect and then does the rest; counts its runs. */
    final class Charging implements OperationWork<SQLException> {
        private final AtomicInteger runs = new AtomicInteger();
        private final Operation operation;
        private final OperationWork<SQLException> rest;

        Charging(Operation operation, OperationWork<SQLException> rest) {
            this.operation = operation;
            this.rest = rest;
        }

        @Override
        public WorkResult run(IdempotencyContext context) throws SQLException {
            runs.incrementAndGet();
            insertEffect(operation);
            return rest.run(context);
        }

        int runs() {
            return runs.get();
        }
    }

    Charging charging(Operation operation, OperationWork<SQLException> rest) {
        return new Charging(operation, rest);
    }

    Charging charging(Operation operation) {
        return new Charging(operation, context -> succeeded("charged"));
    }

    private void insertEffect(Operation operation) throws SQLException {
        try (Connection connection = joining.getConnection();
                PreparedStatement statement = connection.prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
            statement.setString(1, operation.id().key().value());
            statement.executeUpdate();
        }
    }

    int effects(Operation operation) {
        return database.countEffects(operation.id().key().value());
    }

    @Override
    public void close() {
        idempotency.close();
    }
}
