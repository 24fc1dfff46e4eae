package dev.idempotency.jdbi;

import java.util.Collections;

/** The statements on the outbox as MariaDB 11 says them. */
final class MariaDbOutboxSql extends OutboxSql {
    private final String liveIndex;
    private final String idIndex;

    MariaDbOutboxSql(TableNames names) {
        super(names);
        this.liveIndex = names.part("outbox_event_live");
        this.idIndex = names.part("outbox_event_id");
    }

    @Override
    String clock() {
        return MariaDbSession.NOW;
    }

    @Override
    String later() {
        return MariaDbSession.NOW + " + INTERVAL ? * 1000 MICROSECOND";
    }

    @Override
    String age() {
        return "TIMESTAMPDIFF(MICROSECOND, created_at, " + clock() + ") DIV 1000";
    }

    @Override
    String dueIn() {
        return """
                CAST(CEIL(GREATEST(0, COALESCE(TIMESTAMPDIFF(MICROSECOND, %s, next_attempt_at), 0)) / 1000) AS SIGNED)
                AS due_in""".formatted(clock());
    }

    /** With stale statistics the planner would walk the primary key for its order, over all the rows that are done. */
    @Override
    String live() {
        return event + " FORCE INDEX (" + liveIndex + ")";
    }

    /**
     * Rows that are named by their numbers are found by them, also in a small table. A scan would meet the rows that other
     * relays have locked, and wait for them.
     */
    @Override
    String update() {
        return "UPDATE " + event + " FORCE INDEX (PRIMARY)";
    }

    @Override
    String deleteFrom() {
        return "DELETE e FROM " + event + " e FORCE INDEX (PRIMARY)";
    }

    @Override
    String updateById() {
        return "UPDATE " + event + " FORCE INDEX (" + idIndex + ")";
    }

    @Override
    String deleteById() {
        return "DELETE e FROM " + event + " e FORCE INDEX (" + idIndex + ")";
    }

    /** The rows as they are committed, whatever the transaction's snapshot. */
    @Override
    String find() {
        return super.find() + "LOCK IN SHARE MODE";
    }

    @Override
    String append() {
        return append(1);
    }

    /**
     * Parameters, for each event: id, bucket, topic, partition, key, payload, headers, ordering key, type, tenant, delay
     * twice.
     */
    String append(int events) {
        return insertInto("INSERT IGNORE INTO")
                + String.join(",\n", Collections.nCopies(events, insertedRow()))
                + "\nRETURNING event_id";
    }

    @Override
    String limitAndLock() {
        return """
                LIMIT ?
                FOR UPDATE SKIP LOCKED""";
    }

    /** Published rows past their retention, locked. Parameters: age, limit. */
    String lockOldPublished() {
        return """
                SELECT seq
                FROM %s
                WHERE done_at < %s - INTERVAL ? * 1000 MICROSECOND
                AND status = 'PUBLISHED'
                ORDER BY done_at
                %s
                """.formatted(live(), clock(), limitAndLock());
    }

    /** Parameter: sequence numbers, of rows that this transaction has locked. */
    String deleteLocked() {
        return """
                %s
                WHERE seq = ANY(?)
                """.formatted(deleteFrom());
    }

    @Override
    String deletePublished() {
        throw new UnsupportedOperationException("MariaDB locks first and deletes then");
    }

    @Override
    String announce() {
        return """
                INSERT INTO %s (owner, expires_at)
                VALUES (?, %s)
                ON DUPLICATE KEY UPDATE
                expires_at = VALUES(expires_at)
                """.formatted(relay, later());
    }

    @Override
    String heldLeases() {
        return "UNNEST(?, ?) AS held (slot, epoch)";
    }
}
