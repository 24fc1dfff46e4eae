package dev.idempotency.verification.worlds;

import dev.idempotency.RecordedResult;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.TransactionalIdempotencyStore;
import dev.idempotency.transaction.Transaction;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Claims that write their row first, without waiting for anybody; the completion updates it. */
final class H2Operations extends OperationStore implements TransactionalIdempotencyStore {
    H2Operations(Actor actor, SeededFault fault) {
        super(actor, fault);
    }

    @Override
    public ClaimOutcome claim(Transaction transaction, ClaimRequest request) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        String cell = cell(request.id());
        for (int round = 1; round <= MAX_ROUNDS; round++) {
            Optional<ClaimOutcome> outcome = told(() -> tryClaim(joined, cell, request));
            if (outcome.isPresent()) {
                return outcome.get();
            }
        }
        throw lostTooOften();
    }

    private Optional<ClaimOutcome> tryClaim(SimulatedTransaction transaction, String cell, ClaimRequest request) {
        Look look = transaction.statement(
                "look up " + cell,
                Look.class,
                sql -> new Look(true, sql.serial(), clock(sql), sql.find(cell, Row.class)));
        Optional<ClaimOutcome> obstacle = obstacle(look, request);
        if (obstacle.isPresent()) {
            return obstacle;
        }
        Claim claim = nextClaim(transaction, request, look, "");
        Row claimed = new Row(claim.token(), claim.attempt(), null, 0, false);
        Row seen = look.row();
        String outcome = transaction.statement(
                "write the claim " + cell, String.class, sql -> writeWithoutWait(sql, cell, seen, claimed));
        return switch (outcome) {
            case "busy" -> Optional.of(new ClaimOutcome.InProgress(RETRY_AFTER));
            case "taken" -> taken(claim, look.serial());
            default -> Optional.of(acquired(claim, Integer.parseInt(outcome)));
        };
    }

    private Optional<ClaimOutcome> taken(Claim claim, int serial) {
        if (fault == SeededFault.DUPLICATE_IS_THROWN) {
            throw new IllegalStateException("Unique index or primary key violation");
        }
        return fault == SeededFault.DUPLICATE_IS_ACQUIRED ? Optional.of(acquired(claim, serial)) : Optional.empty();
    }

    private static ClaimOutcome acquired(Claim claim, int serial) {
        return new ClaimOutcome.Acquired(
                new Claim(claim.request(), claim.claimId(), claim.token(), claim.attempt(), Integer.toString(serial)));
    }

    /** The number of the transaction if written; a lock time-out of zero tells a row that somebody holds. */
    private static String writeWithoutWait(Sql sql, String cell, @Nullable Row seen, Row claimed) {
        if (sql.isHeldByAnother(cell)) {
            return "busy";
        }
        Row present = sql.find(cell, Row.class);
        boolean unchanged = present == null ? seen == null : present.equals(seen);
        if (!unchanged) {
            return "taken";
        }
        sql.write(cell, claimed);
        return Integer.toString(sql.serial());
    }

    @Override
    public void complete(Transaction transaction, Claim claim, RecordedResult result) {
        SimulatedTransaction joined = transaction.unwrap(SimulatedTransaction.class);
        String cell = cell(claim.request().id());
        int serial = Integer.parseInt(claim.transactionProof());
        String outcome = told(() -> joined.statement(
                "complete the claimed record " + cell, String.class, sql -> update(sql, cell, claim, serial, result)));
        if (fault == SeededFault.LAST_STATEMENT_UNCHECKED) {
            return;
        }
        if (outcome.equals("other transaction")) {
            throw transactionLost();
        }
        if (outcome.equals("other record")) {
            throw claimLost();
        }
    }

    private static String update(Sql sql, String cell, Claim claim, int serial, RecordedResult result) {
        if (sql.serial() != serial) {
            return "other transaction";
        }
        sql.await(cell);
        Row present = sql.find(cell, Row.class);
        if (present == null || present.token() != claim.token() || present.result() != null) {
            return "other record";
        }
        sql.write(cell, new Row(present.token(), present.attempt(), result, 0, false));
        return "1 row";
    }
}
