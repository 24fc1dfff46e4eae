package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpillBufferTest {
    @Test
    void write_anySizesAroundTheLimits_readsBackEqual() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            try (SpillBuffer buffer = new SpillBuffer(new BufferLimits(random.nextInt(50), 200))) {
                ByteArrayOutputStream expected = new ByteArrayOutputStream();
                while (expected.size() < 150) {
                    byte[] bytes = new byte[random.nextInt(50)];
                    random.nextBytes(bytes);
                    expected.write(bytes);
                    buffer.write(bytes);
                }
                ByteArrayOutputStream sent = new ByteArrayOutputStream();
                buffer.writeTo(sent);
                assertThat(buffer.toBytes()).as("seed %d", seed).isEqualTo(expected.toByteArray());
                assertThat(sent.toByteArray()).as("seed %d", seed).isEqualTo(expected.toByteArray());
                assertThat(buffer.size()).isEqualTo(expected.size());
            }
        }
    }

    @Test
    void write_beyondTheTotal_isRefusedAndKeepsWhatWasThere() throws IOException {
        try (SpillBuffer buffer = new SpillBuffer(new BufferLimits(2, 5))) {
            buffer.write(new byte[] {1, 2, 3});
            assertThatThrownBy(() -> buffer.write(new byte[] {4, 5, 6}))
                    .isInstanceOf(SpillBuffer.TooLargeException.class)
                    .hasMessageContaining("5");
            buffer.write(new byte[] {4, 5});
            assertThat(buffer.toBytes()).containsExactly(1, 2, 3, 4, 5);
        }
    }

    @Test
    void open_twice_readsTwice() throws IOException {
        try (SpillBuffer buffer = new SpillBuffer(new BufferLimits(2, 9))) {
            buffer.write(new byte[] {1, 2, 3, 4});
            try (InputStream first = buffer.open();
                    InputStream second = buffer.open()) {
                assertThat(first.read()).isEqualTo(1);
                assertThat(second.readAllBytes()).containsExactly(1, 2, 3, 4);
                assertThat(first.readAllBytes()).containsExactly(2, 3, 4);
                assertThat(first.read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void clear_forgets() throws IOException {
        try (SpillBuffer buffer = new SpillBuffer(new BufferLimits(2, 5))) {
            buffer.write(new byte[] {1, 2, 3, 4});
            buffer.clear();
            assertThat(buffer.size()).isZero();
            buffer.write(new byte[] {9, 8, 7, 6, 5});
            assertThat(buffer.toBytes()).containsExactly(9, 8, 7, 6, 5);
        }
    }
}
