package dev.idempotency.jdbi;

import java.util.List;

/**
 * What the module keeps tables for, each with its files and with what a store needs to find there.
 *
 * <p>A file is called {@code V<number>__<table>.sql}, has the same name in every dialect's folder and is never changed
 * once released. Numbers are unique over all subjects, as migration tools ask. One column stands on one line, one
 * statement ends with a semicolon at the end of a line; indexes and constraints are called after their table.
 *
 * @param files the names of its files, in the order in which they are to be run
 * @param tables what must be there before a store can work
 */
record SchemaSubject(List<String> files, List<RequiredTable> tables) {
    static final SchemaSubject OPERATIONS = new SchemaSubject(
            List.of("V1__idempotency_record.sql", "V8__idempotency_record_claim.sql"),
            List.of(new RequiredTable(
                    "idempotency_record",
                    List.of(
                            "idempotency_key",
                            "scope_digest",
                            "caller_digest",
                            "operation",
                            "status",
                            "fencing_token",
                            "claim_id",
                            "attempt",
                            "fingerprint",
                            "result_status",
                            "result_reason",
                            "result_metadata",
                            "result_body",
                            "created_at",
                            "completed_at",
                            "lease_until",
                            "expires_at"),
                    List.of(List.of("idempotency_key", "scope_digest")))));

    static final SchemaSubject EVENTS = new SchemaSubject(
            List.of("V2__processed_event.sql", "V6__partition_offset.sql", "V7__parked_event.sql"),
            List.of(
                    new RequiredTable(
                            "event_consumer",
                            List.of("consumer_id", "name"),
                            List.of(List.of("consumer_id"), List.of("name"))),
                    new RequiredTable(
                            "processed_event",
                            List.of("marked_at", "event_id", "consumer_id"),
                            List.of(List.of("event_id", "consumer_id"))),
                    new RequiredTable(
                            "partition_offset",
                            List.of(
                                    "next_offset",
                                    "epoch",
                                    "started_offset",
                                    "started_epoch",
                                    "updated_at",
                                    "topic_id",
                                    "partition_number",
                                    "starts",
                                    "unadvanced",
                                    "consumer_id",
                                    "topic",
                                    "owner"),
                            List.of(List.of("consumer_id", "topic_id", "partition_number"))),
                    new RequiredTable(
                            "parked_event",
                            List.of(
                                    "record_offset",
                                    "recorded_at",
                                    "parked_at",
                                    "topic_id",
                                    "partition_number",
                                    "attempts",
                                    "consumer_id",
                                    "topic",
                                    "event_id",
                                    "reason",
                                    "record_key",
                                    "record_value",
                                    "record_headers"),
                            List.of(List.of("consumer_id", "topic_id", "partition_number", "record_offset")))));

    static final SchemaSubject OUTBOX = new SchemaSubject(
            List.of("V3__outbox_event.sql", "V4__outbox_lease.sql", "V5__outbox_relay.sql"),
            List.of(
                    new RequiredTable(
                            "outbox_event",
                            List.of(
                                    "event_id",
                                    "seq",
                                    "created_at",
                                    "next_attempt_at",
                                    "locked_at",
                                    "locked_until",
                                    "published_at",
                                    "done_at",
                                    "claim_token",
                                    "attempts",
                                    "crashes",
                                    "partition_no",
                                    "bucket",
                                    "status",
                                    "topic",
                                    "msg_key",
                                    "ordering_key",
                                    "event_type",
                                    "tenant_id",
                                    "locked_by",
                                    "last_error",
                                    "headers",
                                    "payload"),
                            List.of(List.of("event_id"))),
                    new RequiredTable(
                            "outbox_lease",
                            List.of("slot", "first_bucket", "last_bucket", "epoch", "expires_at", "owner"),
                            List.of(List.of("slot"))),
                    new RequiredTable("outbox_relay", List.of("owner", "expires_at"), List.of(List.of("owner")))));

    static final List<SchemaSubject> ALL = List.of(OPERATIONS, EVENTS, OUTBOX);

    /** The plain names of all tables of all subjects. */
    static List<String> tableNames() {
        return ALL.stream()
                .flatMap(subject -> subject.tables().stream())
                .map(RequiredTable::name)
                .toList();
    }

    /**
     * What a store needs of one table.
     *
     * @param name the table's plain name
     * @param columns the columns that its statements name
     * @param uniqueKeys the sets of columns that must be unique, each by an index over exactly these columns; what the
     *     guarantees rest on
     */
    record RequiredTable(String name, List<String> columns, List<List<String>> uniqueKeys) {}
}
