package dev.idempotency.jdbi;

import dev.idempotency.Fingerprint;
import dev.idempotency.RecordedResult;
import dev.idempotency.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code idempotency_record} as a look-up saw it.
 *
 * @param status see {@link OperationSql}
 * @param fingerprint what was asked
 * @param token the fencing token of its claim
 * @param claimId the id of its claim; null where it has none that could be asked for
 * @param attempt which attempt its claim is
 * @param isAbsent true if it counts for nothing: expired, no tombstone, and not live
 * @param isExpired true if it is past its retention and not live; where it is not absent it is a tombstone
 * @param leaseMicros how long its lease still runs; 0 if it does not
 * @param result what is known of the answer; null while there is none
 */
record StoredRecord(
        int status,
        Fingerprint fingerprint,
        long token,
        @Nullable UUID claimId,
        int attempt,
        boolean isAbsent,
        boolean isExpired,
        long leaseMicros,
        @Nullable RecordedResult result) {
    /** Reads the columns of {@link OperationSql#recordColumns()}; null where an outer join found no row. */
    static @Nullable StoredRecord read(ResultSet row) throws SQLException {
        int status = row.getInt("status");
        if (row.wasNull()) {
            return null;
        }
        return new StoredRecord(
                status,
                Fingerprint.of(row.getBytes("fingerprint")),
                row.getLong("fencing_token"),
                row.getObject("claim_id", UUID.class),
                row.getInt("attempt"),
                row.getInt("is_absent") == 1,
                row.getInt("is_expired") == 1,
                row.getLong("lease_micros"),
                result(status, row));
    }

    private static @Nullable RecordedResult result(int status, ResultSet row) throws SQLException {
        return switch (status) {
            case OperationSql.IN_PROGRESS, OperationSql.TOMBSTONE -> null;
            case OperationSql.COMPLETED ->
                new RecordedResult.Replayable(
                        row.getInt("result_status"), bytes(row, "result_metadata"), bytes(row, "result_body"));
            case OperationSql.NOT_REPLAYABLE -> {
                String reason = row.getString("result_reason");
                yield new RecordedResult.NotReplayable(row.getInt("result_status"), reason == null ? "" : reason);
            }
            // Written by a later version; it is certain only that the operation is not to be run (rule T4).
            default ->
                throw new StoreException(
                        "A record has the status " + status + ", which this version does not know: it was written by a"
                                + " later one. Let that version answer, or upgrade",
                        null);
        };
    }

    private static byte[] bytes(ResultSet row, String column) throws SQLException {
        byte[] bytes = row.getBytes(column);
        return bytes == null ? new byte[0] : bytes;
    }
}
