package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeflationTest {
    private static final RecordId ID = new RecordId(Scope.shared("test"), IdempotencyKey.of("key"));

    private final Deflation deflation = new Deflation();

    @Test
    void decode_whatEncodeMade_isEqual() throws IOException {
        Random random = new Random(4711);
        for (int length : new int[] {0, 1, 100, 8_191, 8_192, 8_193, 100_000}) {
            byte[] zeros = new byte[length];
            byte[] noise = new byte[length];
            random.nextBytes(noise);
            assertThat(deflation.decode(ID, deflation.encode(ID, zeros), length))
                    .isEqualTo(zeros);
            assertThat(deflation.decode(ID, deflation.encode(ID, noise), length))
                    .isEqualTo(noise);
        }
    }

    @Test
    void decode_moreThanTheBound_endsThere() {
        byte[] bomb = deflation.encode(ID, new byte[50_000_000]);
        assertThat(bomb.length).isLessThan(100_000);
        assertThatThrownBy(() -> deflation.decode(ID, bomb, 1_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("more than 1000");
    }

    @Test
    void decode_endsEarlyOrIsDamaged_isRefused() {
        byte[] whole = deflation.encode(ID, "an answer ".repeat(10).getBytes(StandardCharsets.UTF_8));
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> deflation.decode(ID, cut, 1_000)).isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> deflation.decode(ID, new byte[] {(byte) 0xff, 1, 2, 3}, 1_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("damaged");
    }
}
