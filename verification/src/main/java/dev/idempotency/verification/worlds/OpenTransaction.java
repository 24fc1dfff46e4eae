package dev.idempotency.verification.worlds;

import java.util.Collections;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A transaction that the server has not ended; a value.
 *
 * @param owner the process it belongs to, or -1 if its connection is gone
 * @param status what the server thinks of it
 * @param startedAt the database's time at its begin
 * @param serial how many transactions the server has begun on this connection since the client began this one
 * @param xid its transaction id, or 0 if it has none yet
 * @param writes what it would commit, by cell; {@link Sql#DELETED} for a deleted row
 * @param locks the advisory and row locks it holds beside those of its writes
 */
record OpenTransaction(
        int owner,
        Status status,
        int startedAt,
        int serial,
        long xid,
        SortedMap<String, Object> writes,
        SortedSet<String> locks) {
    enum Status {
        ACTIVE,
        /** Aborted after an error, but not ended by the client. */
        FAILED,
        /** The client is gone and the server has not noticed. */
        ORPHANED,
        /** The client is gone and COMMIT is on its way: it may become durable or not. */
        IN_DOUBT
    }

    static OpenTransaction begun(int owner, int now) {
        return new OpenTransaction(
                owner,
                Status.ACTIVE,
                now,
                0,
                0,
                Collections.unmodifiableSortedMap(new TreeMap<>()),
                Collections.unmodifiableSortedSet(new TreeSet<>()));
    }

    OpenTransaction with(String cell, Object row) {
        SortedMap<String, Object> changed = new TreeMap<>(writes);
        changed.put(cell, row);
        return new OpenTransaction(owner, status, startedAt, serial, xid, changed, locks);
    }

    OpenTransaction withLock(String lock) {
        SortedSet<String> changed = new TreeSet<>(locks);
        changed.add(lock);
        return new OpenTransaction(owner, status, startedAt, serial, xid, writes, changed);
    }

    OpenTransaction withXid(long id) {
        return new OpenTransaction(owner, status, startedAt, serial, id, writes, locks);
    }

    OpenTransaction abandoned(Status how) {
        return new OpenTransaction(-1, how, startedAt, serial, xid, writes, locks);
    }

    /** As after a rollback by the server: nothing is left but, on PostgreSQL, the refusal of what follows. */
    OpenTransaction emptied(Status how, int newSerial) {
        return new OpenTransaction(owner, how, startedAt, newSerial, 0, new TreeMap<>(), new TreeSet<>());
    }
}
