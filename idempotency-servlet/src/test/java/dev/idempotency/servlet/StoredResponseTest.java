package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.RecordedResult;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredResponseTest {
    @Test
    void of_whatWasStored_isEqual() throws Exception {
        List<StoredResponse.Header> headers = List.of(
                new StoredResponse.Header("Link", "</a>"),
                new StoredResponse.Header("Link", "</b>"),
                new StoredResponse.Header("X", "\u20ac".repeat(30_000)));
        StoredResponse stored = new StoredResponse(201, headers, true, "no \u20ac", new byte[] {1, 2});
        StoredResponse read = StoredResponse.of(stored.toResult());
        assertThat(read.status()).isEqualTo(201);
        assertThat(read.headers()).isEqualTo(headers);
        assertThat(read.error()).isTrue();
        assertThat(read.message()).isEqualTo("no \u20ac");
        assertThat(read.body()).containsExactly(1, 2);
    }

    @Test
    void of_noMessage_isNull() throws Exception {
        assertThat(StoredResponse.of(new StoredResponse(404, List.of(), true, null, new byte[0]).toResult())
                        .message())
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 127})
    void of_otherLayout_isReported(int layout) {
        RecordedResult.Replayable later =
                new RecordedResult.Replayable(200, new byte[] {(byte) layout, 0, 0}, new byte[0]);
        assertThatThrownBy(() -> StoredResponse.of(later)).isInstanceOf(StoredResponse.UnreadableException.class);
    }

    @Test
    void of_anyDamage_isReportedOrHarmless() {
        byte[] whole = new StoredResponse(
                        200, List.of(new StoredResponse.Header("Location", "/a")), false, "m", new byte[0])
                .toResult()
                .metadata();
        for (int length = 0; length < whole.length; length++) {
            RecordedResult.Replayable cut =
                    new RecordedResult.Replayable(200, java.util.Arrays.copyOf(whole, length), new byte[0]);
            assertThatThrownBy(() -> StoredResponse.of(cut)).isInstanceOf(StoredResponse.UnreadableException.class);
        }
    }
}
