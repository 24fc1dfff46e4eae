package dev.idempotency.benchmarks.store;

import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.BenchServer;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** A database whose tables of records and of marks hold so many rows, with time-ordered ids. Safe for use by many threads. */
final class GrownTables implements AutoCloseable {
    private static final int REPEATED_KEYS = 10_000;

    private final BenchDatabase database;
    private final OperationForms operations;
    private final MarkForms marks;
    private final long rows;
    private final boolean refilled;
    private List<UUID> repeatedKeys = List.of();

    /**
     * Makes and fills a database.
     *
     * @param refilled whether runs begin with tables of that size again: else what the runs add would make a small table
     *     a large one
     */
    GrownTables(BenchServer server, long rows, boolean refilled) throws SQLException {
        this.database = server.createDatabase();
        this.operations = new OperationForms(database);
        this.marks = new MarkForms(database);
        this.rows = rows;
        this.refilled = refilled;
        fillRecords();
        fillMarks();
    }

    long rows() {
        return rows;
    }

    OperationForms operations() {
        return operations;
    }

    MarkForms marks() {
        return marks;
    }

    void prepareRecords() {
        if (refilled) {
            fillRecords();
        }
    }

    void prepareMarks() {
        if (refilled) {
            fillMarks();
        }
    }

    void replay() {
        operations.replay(repeatedKeys.get(ThreadLocalRandom.current().nextInt(repeatedKeys.size())));
    }

    private void fillRecords() {
        database.jdbi().useHandle(handle -> {
            handle.execute("TRUNCATE idempotency_record");
            // A row each millisecond, the last of them now.
            handle.createUpdate("""
                            INSERT INTO idempotency_record (
                                idempotency_key, scope_digest, caller_digest, operation, fingerprint, fencing_token,
                                attempt, status, created_at, completed_at, expires_at, result_status, result_metadata,
                                result_body)
                            SELECT uuidv7(age)::text, :scope, :caller, :operation, :fingerprint, 0,
                                1, 2, now(), now(), now() + interval '24 hours' + age, 201, ''::bytea,
                                convert_to(repeat('x', 70), 'UTF8')
                            FROM (
                                SELECT make_interval(secs => (number - :rows) / 1000.0) AS age
                                FROM generate_series(1, :rows) AS numbers (number)
                                ORDER BY number
                            ) AS ages
                            """)
                    .bind("scope", OperationForms.SCOPE.digest())
                    .bind("caller", OperationForms.SCOPE.callerDigest())
                    .bind("operation", OperationForms.SCOPE.operation())
                    .bind("fingerprint", OperationForms.FINGERPRINT.toBytes())
                    .bind("rows", rows)
                    .execute();
            repeatedKeys = handle.createQuery("""
                            SELECT idempotency_key::uuid
                            FROM idempotency_record
                            WHERE random() * :rows < 2 * :keys
                            LIMIT :keys
                            """)
                    .bind("rows", rows)
                    .bind("keys", REPEATED_KEYS)
                    .mapTo(UUID.class)
                    .list();
        });
        database.vacuum("idempotency_record");
    }

    private void fillMarks() {
        short consumer = MarkForms.consumerNumber(database);
        database.jdbi().useHandle(handle -> {
            handle.execute("TRUNCATE processed_event");
            handle.createUpdate("""
                            INSERT INTO processed_event (event_id, consumer_id)
                            SELECT uuidv7(make_interval(secs => (number - :rows) / 1000.0)), :consumer
                            FROM generate_series(1, :rows) AS numbers (number)
                            ORDER BY number
                            """)
                    .bind("rows", rows)
                    .bind("consumer", consumer)
                    .execute();
        });
        database.vacuum("processed_event");
    }

    @Override
    public void close() {
        operations.close();
        database.close();
    }
}
