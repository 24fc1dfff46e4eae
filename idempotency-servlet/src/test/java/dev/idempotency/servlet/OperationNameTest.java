package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Scope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperationNameTest {
    @ParameterizedTest
    @CsvSource({
        "POST /orders/1, POST /orders/1",
        "POST /stra\u00dfe, POST /stra\u00dfe",
        "'POST /a\nINFO forged', POST /a%0AINFO forged",
        "'POST /a\r\n\u001b[31m\u0085\u2028\u202e', POST /a%0D%0A%1B[31m%C2%85%E2%80%A8%E2%80%AE"
    })
    void of_staysOnOneLine(String methodAndPath, String name) {
        assertThat(OperationName.of(methodAndPath)).isEqualTo(name);
    }

    @Test
    void of_longPath_fitsAScopeAndDependsOnAllOfIt() {
        String path = "POST /" + "x".repeat(4_090);

        assertThat(OperationName.of(path)).isEqualTo(path);
        assertThat(Scope.anonymous(OperationName.of(path + "x")).operation()).hasSize(4_096);
        assertThat(OperationName.of(path + "x")).isNotEqualTo(OperationName.of(path + "y"));
        assertThat(OperationName.of("POST /" + "\n".repeat(4_090))).hasSize(4_096);
    }
}
