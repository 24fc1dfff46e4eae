package dev.idempotency.outbox;

import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import java.util.List;

/** What can be told of the rows that a query has returned. */
final class Pages {
    private Pages() {}

    /** Tells whether a limit of the query has ended the page, so that there may be more. */
    static boolean isFull(List<OutboxRow> rows, OutboxQuery query) {
        return rows.size() >= query.limit() || payloadBytes(rows) >= query.mostBytes();
    }

    private static long payloadBytes(List<OutboxRow> rows) {
        return rows.stream().mapToLong(Pages::payloadBytes).sum();
    }

    /** The bytes by which a query counts the row. */
    static long payloadBytes(OutboxRow row) {
        return row.event().payload().map(payload -> payload.length).orElse(0);
    }
}
