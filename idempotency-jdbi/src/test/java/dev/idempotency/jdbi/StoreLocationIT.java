package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.ConsumerId;
import dev.idempotency.event.DeadLetters;
import dev.idempotency.event.EventProcessor;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.LocatedStore;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Store, outbox and transactions of different databases are found when a processor is built. */
class StoreLocationIT {
    private static Stream<Engine> engines() {
        return Stream.of(
                new Engine("PostgreSQL", PostgreSqlTestDatabase::new),
                new Engine("H2", H2TestDatabase::new),
                new Engine("MariaDB", MariaDbTestDatabase::new));
    }

    private record Engine(String name, Supplier<TestDatabase> start) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static EventProcessor.Builder<String> processor(TestDatabase store, TestDatabase transactions) {
        return EventProcessor.<String>builder()
                .consumer(ConsumerId.of("billing"))
                .store(JdbiEventStore.of(store.dataSource()))
                .transactions(JdbiTransactionRunner.of(transactions.dataSource()))
                .handler(TransactionScope.PER_BATCH, (event, context) -> {});
    }

    private static String in(LocatedStore store, TransactionRunner runner) {
        return runner.run(TransactionLimits.ofDefaults(), transaction -> store.location(transaction));
    }

    @ParameterizedTest
    @MethodSource("engines")
    void location_oneDatabase_isTheSameFromEverywhere(Engine engine) {
        try (TestDatabase database = engine.start().get();
                TestDatabase other = engine.start().get()) {
            TransactionRunner runner = JdbiTransactionRunner.of(database.dataSource());
            TransactionRunner elsewhere = JdbiTransactionRunner.of(other.dataSource());
            for (LocatedStore store : new LocatedStore[] {
                JdbiEventStore.of(database.dataSource()), JdbiOutboxStore.of(database.dataSource())
            }) {
                assertThat(in(store, runner)).isEqualTo(store.location());
                assertThat(in(store, elsewhere)).isNotEqualTo(store.location());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void build_transactionsOfAnotherDatabase_areRefused(Engine engine) {
        try (TestDatabase database = engine.start().get();
                TestDatabase other = engine.start().get()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> processor(database, other).build())
                    .withMessageContaining("The store and the transactions use different databases");
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void build_outboxOfAnotherDatabase_isRefused(Engine engine) {
        try (TestDatabase database = engine.start().get();
                TestDatabase other = engine.start().get()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> processor(database, database)
                            .deadLetters(DeadLetters.to("dead", JdbiOutboxStore.of(other.dataSource())))
                            .build())
                    .withMessageContaining("The outbox of the dead letters and the transactions");
            assertThat(processor(database, database)
                            .deadLetters(DeadLetters.to("dead", JdbiOutboxStore.of(database.dataSource())))
                            .build())
                    .isNotNull();
        }
    }

    @Test
    void build_transactionsOfAnotherKindOfDatabase_areRefused() {
        try (TestDatabase database = new PostgreSqlTestDatabase();
                TestDatabase other = new H2TestDatabase()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> processor(database, other).build())
                    .withMessageContaining("the transactions are at [H2 in memory");
        }
    }
}
