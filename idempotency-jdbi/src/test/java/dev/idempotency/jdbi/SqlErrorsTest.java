package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreException;
import dev.idempotency.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlErrorsTest {
    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01", "40000", "55P03", "HYT00"})
    void translate_lostAgainstAnother_isConflict(String sqlState) {
        assertThat(translated(new SQLException("text", sqlState))).isInstanceOf(StoreConflictException.class);
    }

    /** MariaDB's lock wait time-out has no state of its own. */
    @Test
    void translate_lockWaitTimeoutOfMariaDb_isConflict() {
        SQLException failure = new SQLException("text", "HY000", 1205);

        assertThat(translated(failure)).isInstanceOf(StoreConflictException.class);
        assertThat(SqlErrors.isLockTimeout(failure)).isTrue();
        assertThat(translated(new SQLException("text", "HY000", 1064))).isInstanceOf(StoreException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"08000", "08001", "08003", "08006", "57P01", "57P02", "57P03", "57014", "53300", "53100", "25P03"
            })
    void translate_serverNotThere_isUnavailable(String sqlState) {
        assertThat(translated(new SQLException("text", sqlState))).isInstanceOf(StoreUnavailableException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"40003", "42501", "42P01", "22001", "23502", "XX000", "25P02", ""})
    void translate_anythingElse_isAFailureThatARepeatDoesNotCure(String sqlState) {
        assertThat(translated(new SQLException("text", sqlState))).isInstanceOf(StoreException.class);
    }

    @Test
    void translate_noState_goesByTheDriversType() {
        assertThat(translated(new SQLTransientConnectionException("text")))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(translated(new SQLRecoverableException("text"))).isInstanceOf(StoreUnavailableException.class);
        assertThat(translated(new SQLException("text"))).isInstanceOf(StoreException.class);
    }

    @Test
    void translate_message_saysWhatWasAttemptedAndKeepsTheCause() {
        SQLException failure = new SQLException("text", "40001");

        assertThat(translated(failure))
                .hasMessageContaining("The test")
                .hasMessageContaining("40001")
                .hasCause(failure);
    }

    private static IdempotencyException translated(SQLException failure) {
        return SqlErrors.translate("The test", failure);
    }
}
