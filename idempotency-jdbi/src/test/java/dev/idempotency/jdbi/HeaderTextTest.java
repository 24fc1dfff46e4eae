package dev.idempotency.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeaderTextTest {
    @Test
    void encode_isReadable() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("b", "2");
        headers.put("a", "x\ty");

        assertThat(HeaderText.encode(headers)).isEqualTo("b\t2\na\tx\\ty\n");
    }

    @Test
    void encode_none_isNull() {
        assertThat(HeaderText.encode(Map.of())).isNull();
        assertThat(HeaderText.decode(null)).isEmpty();
    }

    @Test
    void decode_anyText_isWhatWasEncoded() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String alphabet = "ab\t\n\\\0tn0ß\r";
        for (int round = 0; round < 2_000; round++) {
            Map<String, String> headers = new LinkedHashMap<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                headers.put("h" + i + text(random, alphabet), text(random, alphabet));
            }
            assertThat(HeaderText.decode(HeaderText.encode(headers)))
                    .as("seed %d", seed)
                    .containsExactlyEntriesOf(headers);
        }
    }

    private static String text(Random random, String alphabet) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

    @Test
    void decode_damaged_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> HeaderText.decode("a 1\n"));
        assertThatIllegalArgumentException().isThrownBy(() -> HeaderText.decode("a\t1"));
    }
}
