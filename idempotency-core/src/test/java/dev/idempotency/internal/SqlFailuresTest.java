package dev.idempotency.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.StoreConflictException;
import dev.idempotency.StoreUnavailableException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlFailuresTest {
    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01", "40000", "55P03", "HYT00"})
    void isConflict_stateOfALostRace_isTrue(String state) {
        assertThat(SqlFailures.isConflict(new SQLException("text", state))).isTrue();
    }

    /** MariaDB and MySQL have no state for these: lock wait time-out, NOWAIT, snapshot lost. */
    @ParameterizedTest
    @ValueSource(ints = {1205, 3572, 1020})
    void isConflict_vendorCodeBesideTheGeneralState_isTrue(int code) {
        assertThat(SqlFailures.isConflict(new SQLException("text", "HY000", code)))
                .isTrue();
    }

    @Test
    void isLockTimeout_vendorCode_onlyWhereTheStateSaysNothing() {
        assertThat(SqlFailures.isLockTimeout(new SQLException("text", "HY000", 1205)))
                .isTrue();
        assertThat(SqlFailures.isLockTimeout(new SQLException("text", "HY000", 1020)))
                .isFalse();
        assertThat(SqlFailures.isLockTimeout(new SQLException("text", "42000", 1205)))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"40003, 0", "HY000, 0", "HY000, 1064", "23505, 1205", "57014, 0", "25P02, 0"})
    void isConflict_anythingElse_isFalse(String state, int code) {
        assertThat(SqlFailures.isConflict(new SQLException("text", state, code)))
                .isFalse();
    }

    @Test
    void isConflict_noState_goesByTheType() {
        assertThat(SqlFailures.isConflict(new SQLTransactionRollbackException("text")))
                .isTrue();
        assertThat(SqlFailures.isConflict(new StoreConflictException("text", null)))
                .isTrue();
        assertThat(SqlFailures.isConflict(new SQLException("text"))).isFalse();
    }

    @Test
    void isConflict_deepInTheChain_isFound() {
        BatchUpdateException batch = new BatchUpdateException("text", new int[0]);
        batch.setNextException(new SQLException("text", "40001"));

        assertThat(SqlFailures.isConflict(new IllegalStateException(new RuntimeException(batch))))
                .isTrue();
    }

    @Test
    void isConflict_chainThatIsACircle_ends() {
        RuntimeException one = new RuntimeException("one");
        one.initCause(new RuntimeException("other", one));

        assertThat(SqlFailures.isConflict(one)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "53300", "57P01", "40003"})
    void isInfrastructure_serverNotThere_isTrue(String state) {
        assertThat(SqlFailures.isInfrastructure(new SQLException("text", state)))
                .isTrue();
    }

    @Test
    void isInfrastructure_type_isTrue() {
        assertThat(SqlFailures.isInfrastructure(new SQLRecoverableException("text")))
                .isTrue();
        assertThat(SqlFailures.isInfrastructure(new StoreUnavailableException("text", null)))
                .isTrue();
    }

    /** Of a statement that ran too long the event may be the cause. */
    @ParameterizedTest
    @ValueSource(strings = {"57014", "23505", "22001"})
    void isInfrastructure_anythingElse_isFalse(String state) {
        assertThat(SqlFailures.isInfrastructure(new SQLException("text", state)))
                .isFalse();
    }

    @Test
    void isEndedForItsLength_idleOrOpenForTooLong_isTrueAndNothingElse() {
        assertThat(SqlFailures.isEndedForItsLength(new SQLException("text", "25P03")))
                .isTrue();
        assertThat(SqlFailures.isEndedForItsLength(new IllegalStateException(new SQLException("text", "25P04"))))
                .isTrue();
        assertThat(SqlFailures.isEndedForItsLength(new SQLException("text", "25P02")))
                .isFalse();
    }

    @Test
    void isInFailedTransaction_25P02_isTrueAndNothingElse() {
        assertThat(SqlFailures.isInFailedTransaction(new RuntimeException(new SQLException("text", "25P02"))))
                .isTrue();
        assertThat(SqlFailures.isInFailedTransaction(new SQLException("text", "25000")))
                .isFalse();
    }
}
