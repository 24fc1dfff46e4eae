package dev.idempotency.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class CrashPointTest {
    @Test
    void format_parses() {
        CrashPoint point = CrashPoint.holdAt("operation.effect-done").occurrence(12);
        assertThat(CrashPoint.parse(point.format())).isEqualTo(point);
    }

    @Test
    void badParts_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> CrashPoint.haltAt(" "));
        assertThatIllegalArgumentException().isThrownBy(() -> CrashPoint.haltAt("a#b"));
        assertThatIllegalArgumentException().isThrownBy(() -> CrashPoint.haltAt("a,b"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CrashPoint.haltAt("a").occurrence(0));
        assertThatIllegalArgumentException().isThrownBy(() -> CrashPoint.parse("a#1"));
    }

    @Test
    void ofThisProcess_noChild_isRefused() {
        assertThatIllegalStateException().isThrownBy(CrashPoints::ofThisProcess).withMessageContaining("ChildJvm");
    }
}
