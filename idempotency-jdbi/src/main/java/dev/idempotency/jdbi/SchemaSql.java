package dev.idempotency.jdbi;

import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;

/** The statements by which a schema is installed and looked at; a dialect overrides what it says differently. */
abstract sealed class SchemaSql {
    /** Returns the statements of a dialect. */
    static SchemaSql of(SqlDialect dialect) {
        return switch (dialect) {
            case POSTGRESQL -> new PostgreSql();
            case MARIADB -> new MariaDb();
            case H2 -> new H2();
        };
    }

    /** A result without rows that has all columns of the table. */
    String columns(String table) {
        return """
                SELECT *
                FROM %s
                WHERE 1 = 0
                """.formatted(table);
    }

    /**
     * One row per unique index that holds for every row at once: its columns, separated by commas, in lower case.
     * Parameters: the table, as it stands in statements; its schema or the empty string; its bare name.
     */
    abstract String uniqueIndexes();

    /**
     * One row if the table has the index; the empty string where there is no need to ask first. Parameters: the table, as
     * it stands in statements; the index.
     */
    String hasIndex() {
        return "";
    }

    /** As {@link #hasIndex()}, for a column. */
    String hasColumn() {
        return "";
    }

    /**
     * One row: which server and database this is, and which table a name means in it; the same on every connection to it.
     * Parameters: the table, as it stands in statements.
     */
    abstract String location();

    /** Makes concurrent installers wait for each other until the transaction ends. */
    abstract String lockInstaller();

    /** How long an installer waits: as long as the other one needs. */
    TransactionLimits installerLimits() {
        return new TransactionLimits(Duration.ofMinutes(1), Duration.ofMinutes(10), Duration.ofMinutes(10));
    }

    /** How often an installer that failed looks again, because it may have met another one that no lock kept away. */
    int installerRounds() {
        return 1;
    }

    static final class PostgreSql extends SchemaSql {
        @Override
        String uniqueIndexes() {
            return """
                    SELECT string_agg(a.attname::text, ',' ORDER BY k.position)
                    FROM pg_index i
                    CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                    WHERE i.indrelid = to_regclass(?)
                    AND i.indisunique
                    AND i.indisvalid
                    AND i.indimmediate
                    AND i.indpred IS NULL
                    AND i.indexprs IS NULL
                    AND k.position <= i.indnkeyatts
                    AND ? IS NOT NULL
                    AND ? IS NOT NULL
                    GROUP BY i.indexrelid
                    """;
        }

        @Override
        String hasIndex() {
            return """
                    SELECT 1
                    FROM pg_index i
                    JOIN pg_class c ON c.oid = i.indexrelid
                    WHERE i.indrelid = to_regclass(?)
                    AND c.relname = ?
                    """;
        }

        @Override
        String hasColumn() {
            return """
                    SELECT 1
                    FROM pg_attribute
                    WHERE attrelid = to_regclass(?)
                    AND attname = ?
                    AND NOT attisdropped
                    """;
        }

        @Override
        String location() {
            return """
                    SELECT 'PostgreSQL system ' || c.system_identifier
                    || ', started ' || pg_postmaster_start_time()
                    || ', database ' || current_database()
                    || ', table ' || coalesce(CAST(CAST(to_regclass(?) AS oid) AS text), 'missing')
                    FROM pg_control_system() AS c
                    """;
        }

        @Override
        String lockInstaller() {
            return "SELECT pg_advisory_xact_lock(hashtextextended('dev.idempotency.jdbi schema', 0))";
        }
    }

    static final class MariaDb extends SchemaSql {
        /** A table's name behind that of its schema. */
        private static final String QUALIFIED =
                "(SELECT IF(LOCATE('.', t) > 0, t, CONCAT(DATABASE(), '.', t)) FROM (SELECT ? AS t) AS given)";

        @Override
        String uniqueIndexes() {
            return """
                    SELECT GROUP_CONCAT(LOWER(column_name) ORDER BY seq_in_index)
                    FROM information_schema.statistics
                    WHERE ? IS NOT NULL
                    AND table_schema = COALESCE(NULLIF(?, ''), DATABASE())
                    AND table_name = ?
                    AND non_unique = 0
                    GROUP BY index_name
                    HAVING COUNT(sub_part) = 0
                    """;
        }

        @Override
        String hasIndex() {
            return """
                    SELECT 1
                    FROM information_schema.statistics
                    WHERE CONCAT(table_schema, '.', table_name) = %s
                    AND index_name = ?
                    """.formatted(QUALIFIED);
        }

        @Override
        String hasColumn() {
            return """
                    SELECT 1
                    FROM information_schema.columns
                    WHERE CONCAT(table_schema, '.', table_name) = %s
                    AND column_name = ?
                    """.formatted(QUALIFIED);
        }

        @Override
        String location() {
            return """
                    SELECT CONCAT('MariaDB ', @@hostname, ', port ', @@port, ', in ', @@datadir, ', table ', %s)
                    """.formatted(QUALIFIED);
        }

        @Override
        String lockInstaller() {
            return "SELECT 1";
        }

        /** As on H2, each statement of DDL commits. */
        @Override
        int installerRounds() {
            return 20;
        }
    }

    static final class H2 extends SchemaSql {
        @Override
        String uniqueIndexes() {
            return """
                    SELECT LOWER(LISTAGG(c.COLUMN_NAME, ',') WITHIN GROUP (ORDER BY c.ORDINAL_POSITION))
                    FROM INFORMATION_SCHEMA.INDEX_COLUMNS c
                    WHERE c.IS_UNIQUE
                    AND ? IS NOT NULL
                    AND LOWER(c.TABLE_SCHEMA) = COALESCE(NULLIF(?, ''), LOWER(CURRENT_SCHEMA))
                    AND LOWER(c.TABLE_NAME) = ?
                    GROUP BY c.INDEX_SCHEMA, c.INDEX_NAME
                    """;
        }

        @Override
        String location() {
            return """
                    SELECT 'H2 ' || COALESCE(DATABASE_PATH(), 'in memory')
                    || ', database ' || DATABASE()
                    || ', schema ' || CURRENT_SCHEMA
                    || ', table ' || CAST(? AS VARCHAR)
                    """;
        }

        @Override
        String lockInstaller() {
            return "SELECT 1";
        }

        /** Two that wait for each other are parted by the time-out alone, so it is short, and the installer looks again. */
        @Override
        TransactionLimits installerLimits() {
            return super.installerLimits().withLockWait(Duration.ofSeconds(1));
        }

        /** Each statement of DDL commits, and two at once fail in ways that only the second look tells apart. */
        @Override
        int installerRounds() {
            return 20;
        }
    }
}
