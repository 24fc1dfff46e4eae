package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FormBodyTest {
    @Test
    void merge_keepsTheOrderAndTheQueryFirst() {
        Map<String, String[]> merged =
                FormBody.merge(Map.of("a", new String[] {"0"}), bytes("b=1&a=2&a=3"), StandardCharsets.UTF_8);
        assertThat(merged.get("a")).containsExactly("0", "2", "3");
        assertThat(merged.get("b")).containsExactly("1");
    }

    @Test
    void merge_rawByteAndItsEscape_areTheSame() {
        assertThat(value("a=\u20ac", StandardCharsets.UTF_8)).isEqualTo("\u20ac");
        assertThat(value("a=%E2%82%AC", StandardCharsets.UTF_8)).isEqualTo("\u20ac");
        assertThat(value("a=%E9", StandardCharsets.ISO_8859_1)).isEqualTo("\u00e9");
    }

    @Test
    void merge_separators_areNoPartOfValues() {
        assertThat(value("a=b=c", StandardCharsets.UTF_8)).isEqualTo("b=c");
        assertThat(value("&&a=+%2B%26&", StandardCharsets.UTF_8)).isEqualTo(" +&");
        assertThat(value("a", StandardCharsets.UTF_8)).isEmpty();
        assertThat(FormBody.merge(Map.of(), new byte[0], StandardCharsets.UTF_8))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=%", "a=%4", "a=%4g", "%=a", "a%2=b"})
    void merge_brokenEscape_isRefused(String form) {
        assertThatThrownBy(() -> FormBody.merge(Map.of(), bytes(form), StandardCharsets.UTF_8))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void merge_tooManyParameters_isRefused() {
        byte[] most = bytes("a&".repeat(10_000));
        assertThat(FormBody.merge(Map.of(), most, StandardCharsets.UTF_8).get("a"))
                .hasSize(10_000);
        assertThatThrownBy(() -> FormBody.merge(Map.of(), bytes("a&".repeat(10_001)), StandardCharsets.UTF_8))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static String value(String form, Charset charset) {
        String[] values = FormBody.merge(Map.of(), bytes(form), charset).get("a");
        return Objects.requireNonNull(values)[0];
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
