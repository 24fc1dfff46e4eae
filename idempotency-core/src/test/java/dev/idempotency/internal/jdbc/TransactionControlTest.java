package dev.idempotency.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionControlTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "COMMIT|COMMIT",
                "commit;|COMMIT",
                "~ \t\n COMMIT~|COMMIT",
                "Commit Work|COMMIT",
                "COMMIT AND CHAIN|COMMIT",
                "COMMIT PREPARED 'x'|COMMIT",
                "COMMIT/**/|COMMIT",
                "COMMIT--|COMMIT",
                "(COMMIT)|COMMIT",
                "{COMMIT}|COMMIT",
                ";;COMMIT|COMMIT",
                "/* why */ COMMIT|COMMIT",
                "~-- why\nCOMMIT~|COMMIT",
                "ROLLBACK|ROLLBACK",
                "rollback work|ROLLBACK",
                "ROLLBACK TRANSACTION|ROLLBACK",
                "ROLLBACK AND CHAIN|ROLLBACK",
                "ROLLBACK PREPARED 'x'|ROLLBACK",
                "ROLLBACK; SELECT 1|ROLLBACK",
                "BEGIN|BEGIN",
                "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE|BEGIN",
                "START TRANSACTION|START TRANSACTION",
                "~start\n/* a */ transaction read only~|START TRANSACTION",
                "PREPARE TRANSACTION 'x'|PREPARE TRANSACTION",
                "PREPARE COMMIT x|PREPARE TRANSACTION",
                "SET AUTOCOMMIT TRUE|SET AUTOCOMMIT",
                "SET autocommit=1|SET AUTOCOMMIT",
                "SET a = 1, @@session.autocommit := ON|SET AUTOCOMMIT",
                "INSERT INTO t VALUES (1); COMMIT|COMMIT",
                "INSERT INTO t VALUES ('a'';b'); COMMIT|COMMIT",
                "SELECT 1 /* ; */; COMMIT|COMMIT",
                "~SELECT 1 -- ;\n; COMMIT~|COMMIT",
                "SELECT $tag$ ; $ ; $tag; $tag$; COMMIT|COMMIT",
                "SELECT $1; COMMIT|COMMIT",
                "PREPARE p AS SELECT 1; ROLLBACK TO s; SET x = 1; COMMIT|COMMIT",
                "SET autocommit = 0; COMMIT|COMMIT",
                "CREATE TABLE t (id int); COMMIT|COMMIT"
            })
    void find_onEveryServer_names(String sql, String kind) throws SQLException {
        assertThat(find(sql, false)).isEqualTo(kind);
        assertThat(find(sql, true)).isEqualTo(kind);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "  ",
                "-- COMMIT",
                "/* COMMIT */",
                "/* COMMIT",
                "SELECT 1",
                "SELECT 1;",
                "COMMITTED",
                "COMMIT_LOG",
                "INSERT INTO commit VALUES (1)",
                "UPDATE t SET autocommit = 1",
                "UPDATE t SET autocommit = 1;",
                "INSERT INTO t VALUES ('; COMMIT')",
                "INSERT INTO t VALUES (''';COMMIT')",
                "SELECT \"; COMMIT\" FROM t",
                "SELECT 1 /* ; COMMIT */",
                "SELECT 1; -- COMMIT",
                "ROLLBACK TO s",
                "ROLLBACK TO SAVEPOINT s",
                "ROLLBACK WORK TO SAVEPOINT s",
                "rollback /* a */ transaction to s",
                "SAVEPOINT s",
                "RELEASE SAVEPOINT s",
                "PREPARE p AS SELECT 1",
                "START REPLICA",
                "BEGIN NOT ATOMIC SELECT 1; SELECT 2",
                "SET autocommit = 0",
                "SET AUTOCOMMIT FALSE",
                "SET AUTOCOMMIT OFF; SELECT 1",
                "SET x = 'autocommit'",
                "SET TRANSACTION READ ONLY",
                "{call f(?)}",
                "{? = call f(?)}",
                "(SELECT 1) UNION (SELECT 2)",
                "WITH a AS (SELECT 1) SELECT * FROM a",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END"
            })
    void find_onNoServer_seesOne(String sql) throws SQLException {
        assertThat(find(sql, false)).isNull();
        assertThat(find(sql, true)).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            nullValues = "-",
            value = {
                // what PostgreSQL and H2 read | what MariaDB reads | the text
                "END|-|END",
                "END|-|SELECT 1; END WORK",
                "ABORT|-|ABORT",
                "COMMIT|-|/* a /* b */ c */ COMMIT",
                "-|COMMIT|/* a /* b */ COMMIT",
                "-|COMMIT|/*! COMMIT */",
                "-|COMMIT|/*M!100100 COMMIT */",
                "-|COMMIT|SELECT 1 /*!50000 ; COMMIT */",
                "COMMIT|-|SELECT 'a\\'; COMMIT --'",
                "-|COMMIT|SELECT 'a\\''; COMMIT --'",
                "-|-|SELECT E'a\\'; COMMIT --'",
                "COMMIT|COMMIT|SELECT E'a\\''; COMMIT",
                "COMMIT|-|SELECT nameE'a\\'; COMMIT --'",
                "-|COMMIT|SELECT 1 --1; COMMIT",
                "-|COMMIT|~# why\nCOMMIT~",
                "COMMIT|-|SELECT 1 # 2; COMMIT",
                "-|COMMIT|SELECT $$; COMMIT; $$",
                "-|COMMIT|DO $body$ BEGIN ; COMMIT; END $body$",
                "-|-|SELECT `; COMMIT`",
                "COMMIT|-|SELECT \"a\\\"; COMMIT --\""
            })
    void find_whereServersDiffer_readsAsTheServerDoes(@Nullable String kind, @Nullable String onMariaDb, String sql)
            throws SQLException {
        assertThat(find(sql, false)).isEqualTo(kind);
        assertThat(find(sql, true)).isEqualTo(onMariaDb);
    }

    @Test
    void find_singleOrdinaryStatement_asksForNoDialect() throws SQLException {
        TransactionControl.Dialect nobody = () -> {
            throw new AssertionError("asked");
        };

        assertThat(TransactionControl.find("  select * from t where a = 1", nobody))
                .isNull();
        assertThat(TransactionControl.find("INSERT INTO t VALUES (?, ?)", nobody))
                .isNull();
        assertThat(TransactionControl.find(null, nobody)).isNull();
    }

    private static @Nullable String find(String sql, boolean mariaDb) throws SQLException {
        return TransactionControl.find(sql, () -> mariaDb);
    }
}
