package dev.idempotency.jdbi;

import dev.idempotency.spi.LeasedIdempotencyStore;
import dev.idempotency.testkit.LeasedIdempotencyStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on a {@link TestDatabase}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlLeasedStoreContract extends LeasedIdempotencyStoreContract {
    private LeasedIdempotencyStore store;

    abstract TestDatabase database();

    @BeforeEach
    void connect() {
        database().execute("DELETE FROM idempotency_record");
        store = JdbiIdempotencyStore.of(database().dataSource());
    }

    @Override
    protected LeasedIdempotencyStore store() {
        return store;
    }

    @Override
    protected LeasedIdempotencyStore storeLosingTheCommit(boolean committed) {
        return JdbiIdempotencyStore.of(database().losingTheCommit(committed));
    }

    @Override
    protected void passTime(Duration duration) {
        database().passTime(duration);
    }
}
