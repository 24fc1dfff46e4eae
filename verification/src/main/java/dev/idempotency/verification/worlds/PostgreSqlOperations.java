package dev.idempotency.verification.worlds;

import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.util.Optional;

/** Claims that write nothing: an advisory lock is tried, then the record looked up; one insert at the end. */
class PostgreSqlOperations extends OperationStore implements TransactionalIdempotencyStore {
    PostgreSqlOperations(Actor actor, SeededFault fault) {
        super(actor, fault);
    }

    @Override
    public final ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        Look look = told(() -> look(joined, request.id()));
        Optional<ClaimOutcome> obstacle = obstacle(look, request);
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        Row row = look.row();
        long takeOver = row == null || row.absent() ? -1 : row.token();
        return new ClaimOutcome.Acquired(nextClaim(joined, request, look, look.serial() + "/" + takeOver));
    }

    /** Two statements, the second with a snapshot younger than the lock. */
    final Look look(SimulatedTransaction transaction, RecordId id) {
        String cell = cell(id);
        if (fault == SeededFault.LOOK_BEFORE_LOCK) {
            Look early = find(transaction, cell, true);
            return new Look(tryLock(transaction, cell), early.serial(), early.now(), early.row());
        }
        boolean locked = tryLock(transaction, cell);
        return find(transaction, cell, locked);
    }

    private static boolean tryLock(SimulatedTransaction transaction, String cell) {
        return transaction.statement("try lock " + cell, Boolean.class, sql -> sql.tryLock(cell));
    }

    final Look find(SimulatedTransaction transaction, String cell, boolean locked) {
        return transaction.statement(
                "look up " + cell,
                Look.class,
                sql -> new Look(locked, sql.serial(), clock(sql), sql.find(cell, Row.class)));
    }

    @Override
    public final void complete(Transaction transaction, Claim claim, RecordedResult result) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        String cell = cell(claim.request().id());
        String[] proof = claim.transactionProof().split("/", -1);
        Row completed = new Row(claim.token(), claim.attempt(), result, 0, false);
        try {
            String outcome = joined.statement(
                    "insert the completed record " + cell,
                    String.class,
                    sql -> insert(sql, cell, completed, Integer.parseInt(proof[0]), Long.parseLong(proof[1])));
            if (outcome.equals("other transaction")) {
                throw transactionLost();
            }
            if (outcome.equals("other record") && fault != SeededFault.LAST_STATEMENT_UNCHECKED) {
                throw claimLost();
            }
        } catch (DatabaseError e) {
            if (fault != SeededFault.LAST_STATEMENT_UNCHECKED) {
                throw translated(e);
            }
        }
    }

    private String insert(Sql sql, String cell, Row completed, int serial, long takeOver) {
        if (sql.serial() != serial && fault != SeededFault.TRANSACTION_UNPROVEN) {
            return "other transaction";
        }
        sql.await(cell);
        Row present = sql.find(cell, Row.class);
        boolean replaceable = present == null
                || present.absent()
                || (present.result() == null && present.token() == takeOver && !present.isLive(clock(sql)));
        if (!replaceable) {
            return "other record";
        }
        sql.write(cell, completed);
        return "1 row";
    }
}
