package dev.idempotency.jdbi;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The statements on {@code outbox_event}, {@code outbox_lease} and {@code outbox_relay}, named after the store's methods;
 * a dialect overrides what it says differently. Parameters are listed in their order; durations are in milliseconds.
 *
 * <p>Times are those of the moment and not of the transaction's start, where the dialect knows them: leases are counted
 * by them.
 */
abstract class OutboxSql {
    /** What is read of a row, by these names. */
    static final String COLUMNS = """
            seq,
            event_id,
            bucket,
            topic,
            partition_no,
            msg_key,
            payload,
            headers,
            ordering_key,
            event_type,
            tenant_id,
            attempts,
            created_at""";

    /** Leaves held keys out, but for their heads. Parameters: heads, keys, ordering keys. */
    private static final String WITHOUT_HELD_KEYS = """
            AND (seq = ANY(?)
            OR NOT CASE
            WHEN ordering_key IS NULL THEN COALESCE(msg_key = ANY(?), FALSE)
            ELSE ordering_key = ANY(?)
            END)
            """;

    final String event;
    final String lease;
    final String relay;

    OutboxSql(TableNames names) {
        this.event = names.table("outbox_event");
        this.lease = names.table("outbox_lease");
        this.relay = names.table("outbox_relay");
    }

    /** The database's time at this very moment. */
    abstract String clock();

    /** The time this parameter of milliseconds from now. */
    abstract String later();

    /** The milliseconds that a row still waits, as a column; not below 0. */
    abstract String dueIn();

    /** The milliseconds since a row was appended, as an expression. */
    abstract String age();

    /** What a row that is requeued gets besides, as assignments that end with a comma, or nothing. */
    String requeued() {
        return "";
    }

    /** An insert without its rows. */
    final String insertInto(String insert) {
        return """
                %s %s (
                event_id,
                bucket,
                topic,
                partition_no,
                msg_key,
                payload,
                headers,
                ordering_key,
                event_type,
                tenant_id,
                next_attempt_at)
                VALUES
                """.formatted(insert, event);
    }

    /** Parameters: id, bucket, topic, partition, key, payload, headers, ordering key, type, tenant, delay twice. */
    final String insertedRow() {
        return "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? > 0 THEN %s END)".formatted(later());
    }

    /** The type of a broker's key, as the driver names it for an array. */
    String binaryType() {
        return "varbinary";
    }

    /** Inserts events and returns the ids inserted. Parameters depend on the dialect. */
    abstract String append();

    /** The table, where unfinished rows are looked for in the order of their numbers. */
    String live() {
        return event;
    }

    /** The begin of an update of rows that are named by their numbers. */
    String update() {
        return "UPDATE " + event;
    }

    /** The begin of a deletion of rows that are named by their numbers. */
    String deleteFrom() {
        return "DELETE FROM " + event;
    }

    /**
     * The rows of an update, by number and by event: a number alone may have been used again. Parameters: sequence numbers,
     * event ids.
     */
    String theseUpdated() {
        return """
                WHERE seq = ANY(?)
                AND event_id = ANY(?)""";
    }

    /** As {@link #theseUpdated()}, of a deletion. */
    String theseDeleted() {
        return theseUpdated();
    }

    /** As {@link #update()}, of rows that are named by their ids. */
    String updateById() {
        return update();
    }

    /** As {@link #deleteFrom()}, of rows that are named by their ids. */
    String deleteById() {
        return deleteFrom();
    }

    /** The events of these ids. Parameter: ids. */
    String find() {
        return """
                SELECT event_id, topic, msg_key, payload
                FROM %s
                WHERE event_id = ANY(?)
                """.formatted(event);
    }

    String columns() {
        return COLUMNS + ",\n" + dueIn();
    }

    /** The bytes of the rows before each row, for a page that has a limit of them, as a column. */
    static String bytesBefore(String bytes) {
        return """
                COALESCE(
                SUM(%s) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                0) AS bytes_before""".formatted(bytes);
    }

    /**
     * Locks rows that are due and not claimed. Parameters: first sequence number, topics to leave out, limit, most bytes.
     *
     * <p>A row whose claim has ended counts as not claimed.
     */
    String lock() {
        return """
                SELECT *
                FROM (
                SELECT locked.*, %s
                FROM (
                SELECT %s
                FROM %s
                WHERE done_at IS NULL
                AND seq >= ?
                AND (next_attempt_at IS NULL OR next_attempt_at <= %s)
                AND (status = 'PENDING' OR locked_until < %s)
                AND NOT (topic = ANY(?))
                ORDER BY seq
                %s) AS locked) AS page
                WHERE bytes_before < ?
                ORDER BY seq
                """.formatted(bytesBefore("OCTET_LENGTH(payload)"), columns(), live(), clock(), clock(), limitAndLock());
    }

    /** At most as many rows as the parameter says, locked, passing over those that others have locked. */
    abstract String limitAndLock();

    /**
     * Claims rows that this transaction has locked. Parameters: owner, token, lease, sequence numbers.
     *
     * <p>The crashes come first because MariaDB reads what it has already set.
     */
    String claim() {
        return """
                %s
                SET crashes = crashes + CASE WHEN status = 'PUBLISHING' THEN 1 ELSE 0 END,
                status = 'PUBLISHING',
                locked_by = ?,
                claim_token = ?,
                locked_at = %s,
                locked_until = %s
                WHERE seq = ANY(?)
                AND done_at IS NULL
                """.formatted(update(), clock(), later());
    }

    /** Parameters: sequence numbers, event ids, token. */
    String claimPublished() {
        return published() + claimed();
    }

    /** Parameters: sequence numbers, event ids, token. */
    String claimDeletePublished() {
        return delete() + claimed();
    }

    private static String claimed() {
        return """
                AND status = 'PUBLISHING'
                AND claim_token = ?
                """;
    }

    private String published() {
        return """
                %s
                SET status = 'PUBLISHED',
                published_at = %s,
                done_at = %s,
                claim_token = NULL,
                locked_until = NULL
                %s
                AND done_at IS NULL
                """.formatted(update(), clock(), clock(), theseUpdated());
    }

    private String delete() {
        return """
                %s
                %s
                AND done_at IS NULL
                """.formatted(deleteFrom(), theseDeleted());
    }

    /** One row. Parameters: dead or not, delay, dead or not, error, sequence number, event id; then the fence's. */
    private String failed() {
        return """
                %s
                SET status = CASE WHEN ? THEN 'DEAD' ELSE 'PENDING' END,
                attempts = attempts + 1,
                next_attempt_at = %s,
                done_at = CASE WHEN ? THEN %s END,
                last_error = ?,
                claim_token = NULL,
                locked_until = NULL
                WHERE seq = ?
                AND event_id = ?
                AND done_at IS NULL
                """.formatted(update(), later(), clock());
    }

    /** One row. Parameters: dead or not, delay, dead or not, error, sequence number, event id, token. */
    String claimFailed() {
        return failed() + claimed();
    }

    /** Parameters: sequence numbers, event ids, token. */
    String claimRelease() {
        return """
                %s
                SET status = 'PENDING',
                claim_token = NULL,
                locked_by = NULL,
                locked_at = NULL,
                locked_until = NULL
                %s
                AND done_at IS NULL
                """.formatted(update(), theseUpdated()) + claimed();
    }

    /** Rows whose claim has ended. Parameter: limit. */
    String lockExpired() {
        return """
                SELECT seq
                FROM %s
                WHERE done_at IS NULL
                AND status = 'PUBLISHING'
                AND locked_until < %s
                ORDER BY seq
                %s
                """.formatted(live(), clock(), limitAndLock());
    }

    /** Parameter: sequence numbers, of rows that this transaction has locked. */
    String returnExpired() {
        return """
                %s
                SET status = 'PENDING',
                crashes = crashes + 1,
                claim_token = NULL,
                locked_by = NULL,
                locked_at = NULL,
                locked_until = NULL
                WHERE seq = ANY(?)
                AND done_at IS NULL
                """.formatted(update());
    }

    /** Parameters: sequence numbers, event ids, of rows that this transaction has locked. */
    String lockPublished() {
        return published();
    }

    /** Parameters: sequence numbers, event ids, of rows that this transaction has locked. */
    String lockDeletePublished() {
        return delete();
    }

    /** One row. Parameters: dead or not, delay, dead or not, error, sequence number, event id. */
    String lockFailed() {
        return failed();
    }

    /** Published rows past their retention. Parameters: age, limit. */
    abstract String deletePublished();

    /** Makes a relay known. Parameters: owner, lease. */
    abstract String announce();

    /** How many relays are known. No parameters. */
    String countRelays() {
        return "SELECT COUNT(*) FROM " + relay + " WHERE expires_at > " + clock();
    }

    /** Parameter: owner. */
    String withdrawRelay() {
        return "DELETE FROM " + relay + " WHERE owner = ?";
    }

    /** Frees all ranges of a relay. Parameter: owner. */
    String withdrawLeases() {
        return "UPDATE " + lease + " SET owner = NULL, expires_at = " + clock() + " WHERE owner = ?";
    }

    /** Locks ranges that nobody holds. Parameter: how many. */
    String lockFreeLeases() {
        return """
                SELECT slot, first_bucket, last_bucket, epoch
                FROM %s
                WHERE owner IS NULL OR expires_at < %s
                ORDER BY slot
                %s
                """.formatted(lease, clock(), limitAndLock());
    }

    /** Takes a locked range. Parameters: owner, lease, slot. */
    String acquire() {
        return """
                UPDATE %s
                SET owner = ?,
                epoch = epoch + 1,
                expires_at = %s
                WHERE slot = ?
                """.formatted(lease, later());
    }

    /** One range. Parameters: lease, owner, slot, epoch. */
    String extend() {
        return """
                UPDATE %s
                SET expires_at = GREATEST(expires_at, %s)
                WHERE owner = ?
                AND slot = ?
                AND epoch = ?
                AND expires_at > %s
                """.formatted(lease, later(), clock());
    }

    /** One range. Parameters: owner, slot, epoch. */
    String release() {
        return """
                UPDATE %s
                SET owner = NULL,
                expires_at = %s
                WHERE owner = ?
                AND slot = ?
                AND epoch = ?
                """.formatted(lease, clock());
    }

    /**
     * Unfinished rows of some contiguous ranges of buckets. Parameters per range: first sequence number, first bucket,
     * last bucket, topics to leave out; if keys are held, the heads, the keys and the ordering keys; limit; then most bytes,
     * and the limit once more.
     *
     * <p>A scan per range, merged: with the ranges in one condition the server would visit the rows of all others.
     */
    String read(int ranges, boolean keysHeld) {
        String scan = """
                (SELECT %s
                FROM %s
                WHERE done_at IS NULL
                AND seq >= ?
                AND bucket BETWEEN ? AND ?
                AND NOT (topic = ANY(?))
                %sORDER BY seq
                FETCH FIRST ? ROWS ONLY)
                """.formatted(columns(), live(), keysHeld ? WITHOUT_HELD_KEYS : "");
        String scans = IntStream.range(0, ranges).mapToObj(range -> scan).collect(Collectors.joining("UNION ALL\n"));
        return """
                SELECT *
                FROM (
                SELECT scans.*, %s
                FROM (
                %s) AS scans) AS page
                WHERE bytes_before < ?
                ORDER BY seq
                FETCH FIRST ? ROWS ONLY
                """.formatted(bytesBefore("OCTET_LENGTH(payload)"), scans);
    }

    /** Parameters: sequence numbers, event ids; slots, epochs, owner. */
    String leasePublished() {
        return published() + leased();
    }

    /** Parameters: sequence numbers, event ids; slots, epochs, owner. */
    String leaseDeletePublished() {
        return delete() + leased();
    }

    /** One row. Parameters: dead or not, delay, dead or not, error, sequence number, event id; slots, epochs, owner. */
    String leaseFailed() {
        return failed() + leased();
    }

    /** The row's range is still held. Parameters: slots, epochs, owner. */
    private String leased() {
        return """
                AND EXISTS (
                SELECT 1
                FROM %s l
                JOIN %s ON l.slot = held.slot AND l.epoch = held.epoch
                WHERE bucket BETWEEN l.first_bucket AND l.last_bucket
                AND l.owner = ?)
                """.formatted(lease, heldLeases());
    }

    /** A table {@code held} with columns slot and epoch, from two parameters. */
    abstract String heldLeases();
}
