package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.IdempotencyKey;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProviderFormatTest {
    private static final IdempotencyKey UUID_KEY = IdempotencyKey.of("5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11");

    @ParameterizedTest
    @CsvSource({
        "stripe, Idempotency-Key, PT24H",
        "adyen, Idempotency-Key, P31D",
        "amazonPay, x-amz-pay-idempotency-key, P3660D",
        "checkoutCom, Cko-Idempotency-Key, PT24H",
        "whop, Idempotency-Key, PT24H",
        "ePay, Idempotency-Key, PT24H",
        "zuora, Idempotency-Key, PT24H",
        "ppro, Request-Idempotency-Key, PT24H",
        "trueLayer, Idempotency-Key, P30D",
        "qonto, X-Qonto-Idempotency-Key, PT30M",
        "enfuce, x-idempotency-key, PT24H"
    })
    void preset_isAsDocumented(String name, String header, Duration retention) throws ReflectiveOperationException {
        ProviderFormat format =
                (ProviderFormat) ProviderFormats.class.getMethod(name).invoke(null);
        assertThat(format.headerName()).isEqualTo(header);
        assertThat(format.retention()).isEqualTo(retention);
        assertThat(format.form()).isEqualTo(KeyForm.BARE);
        assertThat(format.headerValue(UUID_KEY)).hasSizeLessThanOrEqualTo(format.maxLength());
    }

    @Test
    void presetsWithoutAPublishedRetention_takeTheCallers() {
        Duration own = Duration.ofHours(3);
        assertThat(ProviderFormats.payPal(own))
                .satisfies(format -> assertThat(format.headerName()).isEqualTo("PayPal-Request-Id"))
                .satisfies(format -> assertThat(format.retention()).isEqualTo(own));
        assertThat(ProviderFormats.solidgate(own).retention()).isEqualTo(own);
        assertThat(ProviderFormats.fullStory(own).retention()).isEqualTo(own);
    }

    @Test
    void keyThatFits_isSentAsItIs() {
        assertThat(ProviderFormats.stripe().headerValue(UUID_KEY)).isEqualTo(UUID_KEY.value());
        assertThat(ProviderFormats.adyen().headerValue(UUID_KEY)).isEqualTo(UUID_KEY.value());
    }

    @Test
    void keyTooLong_isReplacedByTheSameHashEachTime() {
        String text = ProviderFormats.amazonPay().headerValue(UUID_KEY);
        // printf '%s' 5b0a4d5e-2f5b-5c1e-9a39-6b1e7f0c2d11 | sha256sum | cut -c -32
        assertThat(text)
                .isEqualTo("2f3053511b67f734a98eb8687f98a0f7")
                .isEqualTo(ProviderFormats.amazonPay().keyText(UUID_KEY));
        assertThat(ProviderFormats.adyen().headerValue(IdempotencyKey.of("k".repeat(65))))
                .matches("[0-9a-f]{64}");
    }

    @Test
    void keyWithForeignCharacters_isReplaced() {
        assertThat(ProviderFormats.solidgate(Duration.ofHours(1)).headerValue(IdempotencyKey.of("a b")))
                .matches("[0-9a-f]{64}");
        assertThat(ProviderFormats.stripe().headerValue(IdempotencyKey.of("a b")))
                .isEqualTo("a b");
    }

    @Test
    void quoted_escapes() {
        ProviderFormat draft = ProviderFormats.draft(Duration.ofHours(24));
        assertThat(draft.headerValue(IdempotencyKey.of("a\"b\\c"))).isEqualTo("\"a\\\"b\\\\c\"");
    }

    @Test
    void badParts_areNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProviderFormat.of("a b", Duration.ofHours(1)))
                .withMessageContaining("headerName");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProviderFormat.of("a", Duration.ZERO))
                .withMessageContaining("retention");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProviderFormats.stripe().withKeys(31, KeyAlphabet.URL_SAFE))
                .withMessageContaining("maxLength");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProviderFormats.stripe().withRetryHeader("a:b"))
                .withMessageContaining("retryHeader");
    }
}
