package dev.idempotency.jdbi;

/** The statements of {@link MarkPartitions}, PostgreSQL's alone. Names are those of an installation. */
final class MarkPartitionsSql {
    /** 1970 in the ids, and everything below. */
    private static final String LOWEST = "MINVALUE";

    /** The year 2057: no time-ordered id is beyond it, and nearly every id that is random or a hash is. */
    static final String BEYOND_TIME = "02800000-0000-0000-0000-000000000000";

    private static final String STORAGE = """
            WITH (
            autovacuum_vacuum_scale_factor = 0.02,
            autovacuum_vacuum_insert_scale_factor = 0.05,
            autovacuum_analyze_scale_factor = 0.05
            )
            """;

    final String events;

    MarkPartitionsSql(TableNames names) {
        this.events = names.table("processed_event");
    }

    /** The part of the table's name without its schema: indexes are made in the schema of their table. */
    private String bare() {
        return events.substring(events.indexOf('.') + 1);
    }

    String before() {
        return events + "_before";
    }

    String after() {
        return events + "_after";
    }

    String other() {
        return events + "_other";
    }

    /** One runner at a time among all processes, until the transaction ends. */
    String tryLock() {
        return """
                SELECT pg_try_advisory_xact_lock(hashtextextended('dev.idempotency.jdbi partitions of %s', 0))
                """.formatted(events);
    }

    /** One row if the table is there: whether it is partitioned. */
    String isPartitioned() {
        return """
                SELECT relkind = 'p'
                FROM pg_class
                WHERE oid = to_regclass('%s')
                """.formatted(events);
    }

    /** Milliseconds since 1970 by the database's clock. */
    static String now() {
        return "SELECT CAST(extract(epoch FROM now()) * 1000 AS bigint)";
    }

    /** What stands before a name in the schema of the table. */
    String schema() {
        return events.substring(0, events.indexOf('.') + 1);
    }

    /** One row per partition: its name without the schema, and its bounds as text. */
    String partitions() {
        return """
                SELECT c.relname, pg_get_expr(c.relpartbound, c.oid)
                FROM pg_inherits i
                JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = to_regclass('%s')
                """.formatted(events);
    }

    String lockTable() {
        return "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE".formatted(events);
    }

    /** The table that was there steps aside, with its index, so that the new one can have the names. */
    String stepAside() {
        return """
                ALTER TABLE %1$s RENAME TO %2$s_plain;
                ALTER INDEX %1$s_pkey RENAME TO %2$s_plain_pkey
                """.formatted(events, bare());
    }

    String createTable() {
        return """
                CREATE TABLE %s (
                marked_at timestamptz DEFAULT now() NOT NULL,
                event_id uuid NOT NULL,
                consumer_id smallint NOT NULL,
                CONSTRAINT %s_pkey PRIMARY KEY (event_id, consumer_id)
                ) PARTITION BY RANGE (event_id)
                """.formatted(events, bare());
    }

    /** Takes the marks over and drops the table that stepped aside. */
    String moveIn() {
        return """
                INSERT INTO %1$s (marked_at, event_id, consumer_id)
                SELECT marked_at, event_id, consumer_id
                FROM %1$s_plain;
                DROP TABLE %1$s_plain
                """.formatted(events);
    }

    /** Ages are found by ranges of pages, which costs next to nothing to keep. */
    String createAgeIndex() {
        return """
                CREATE INDEX %s_marked_at ON %s USING brin (marked_at) WITH (pages_per_range = 16, autosummarize = on)
                """.formatted(bare(), events);
    }

    String createPartition(String name, String from, String to) {
        return "CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s)\n".formatted(name, events, from, to)
                + STORAGE;
    }

    String createBefore(String to) {
        return createPartition(before(), LOWEST, quoted(to));
    }

    String createAfter(String from) {
        return createPartition(after(), quoted(from), quoted(BEYOND_TIME));
    }

    String createOther() {
        return createPartition(other(), quoted(BEYOND_TIME), "MAXVALUE");
    }

    String detach(String partition) {
        return "ALTER TABLE %s DETACH PARTITION %s".formatted(events, partition);
    }

    /** Ids that were there early, because a clock was ahead, go where they belong. */
    String moveOutOfAfter(String to, String partition) {
        return """
                WITH moved AS (
                DELETE FROM %1$s
                WHERE event_id < %2$s
                RETURNING marked_at, event_id, consumer_id
                )
                INSERT INTO %3$s (marked_at, event_id, consumer_id)
                SELECT marked_at, event_id, consumer_id
                FROM moved
                """.formatted(after(), quoted(to), partition);
    }

    String attachAfter(String from) {
        return "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)"
                .formatted(events, after(), quoted(from), quoted(BEYOND_TIME));
    }

    String attachBefore(String to) {
        return "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)"
                .formatted(events, before(), LOWEST, quoted(to));
    }

    /** A row if the partition holds a mark that is younger. Parameters: age in microseconds. */
    static String findYoung(String partition) {
        return """
                SELECT 1
                FROM %s
                WHERE marked_at >= now() - ? * interval '1 microsecond'
                LIMIT 1
                """.formatted(partition);
    }

    static String drop(String partition) {
        return "DROP TABLE " + partition;
    }

    private static String quoted(String bound) {
        return "'" + bound + "'";
    }
}
