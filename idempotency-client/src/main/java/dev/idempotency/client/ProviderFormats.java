package dev.idempotency.client;

import java.time.Duration;

/**
 * The formats of providers that document theirs, and of the draft standard.
 *
 * <p>They hold what the providers' pages said in 2025; a provider may change it, and a contract may say otherwise: check
 * the retention before money depends on it. Where a provider states no retention, the caller has to.
 */
public final class ProviderFormats {
    private static final String STANDARD_HEADER = "Idempotency-Key";
    private static final Duration DAY = Duration.ofHours(24);

    private ProviderFormats() {}

    /**
     * draft-ietf-httpapi-idempotency-key-header-07: a quoted {@code Idempotency-Key}. What this library's server takes.
     *
     * @param retention how long the server publishes that it keeps keys; this library's server 24 h unless configured
     * @return the format
     */
    public static ProviderFormat draft(Duration retention) {
        return ProviderFormat.of(STANDARD_HEADER, retention).withForm(KeyForm.QUOTED);
    }

    /**
     * Stripe, version 1 of its interface: 255 characters, 24 h, any 409 is a key in use, {@code Stripe-Should-Retry}.
     *
     * @return the format
     */
    public static ProviderFormat stripe() {
        return ProviderFormat.of(STANDARD_HEADER, DAY)
                .withConflict(ConflictMeaning.IN_PROGRESS)
                .withRetryHeader("Stripe-Should-Retry");
    }

    /**
     * Adyen: 64 characters, 31 days, valid within one company account.
     *
     * @return the format
     */
    public static ProviderFormat adyen() {
        return ProviderFormat.of(STANDARD_HEADER, Duration.ofDays(31)).withKeys(64, KeyAlphabet.PRINTABLE_ASCII);
    }

    /**
     * PayPal: {@code PayPal-Request-Id}. The answer to a repeat is the present state, not the first answer.
     *
     * @param retention what the interface in question documents; it differs from one to the next
     * @return the format
     */
    public static ProviderFormat payPal(Duration retention) {
        return ProviderFormat.of("PayPal-Request-Id", retention);
    }

    /**
     * Amazon Pay: {@code x-amz-pay-idempotency-key}, 32 letters, digits, {@code -} and {@code _}, kept for ever. A UUID
     * with its dashes is too long and goes as a hash.
     *
     * @return the format
     */
    public static ProviderFormat amazonPay() {
        return ProviderFormat.of("x-amz-pay-idempotency-key", ProviderFormat.FOREVER)
                .withKeys(32, KeyAlphabet.URL_SAFE);
    }

    /**
     * Checkout.com: {@code Cko-Idempotency-Key}, 24 h; only successes are kept.
     *
     * @return the format
     */
    public static ProviderFormat checkoutCom() {
        return ProviderFormat.of("Cko-Idempotency-Key", DAY);
    }

    /**
     * Whop: 255 bytes, 24 h.
     *
     * @return the format
     */
    public static ProviderFormat whop() {
        return ProviderFormat.of(STANDARD_HEADER, DAY);
    }

    /**
     * Solidgate: 255 characters without spaces.
     *
     * @param retention it publishes none
     * @return the format
     */
    public static ProviderFormat solidgate(Duration retention) {
        return ProviderFormat.of(STANDARD_HEADER, retention).withKeys(255, KeyAlphabet.VISIBLE_ASCII);
    }

    /**
     * ePay: 24 h.
     *
     * @return the format
     */
    public static ProviderFormat ePay() {
        return ProviderFormat.of(STANDARD_HEADER, DAY);
    }

    /**
     * Zuora: fewer than 255 characters, 24 h, 409 while an attempt is in progress.
     *
     * @return the format
     */
    public static ProviderFormat zuora() {
        return ProviderFormat.of(STANDARD_HEADER, DAY)
                .withKeys(254, KeyAlphabet.PRINTABLE_ASCII)
                .withConflict(ConflictMeaning.IN_PROGRESS);
    }

    /**
     * PPRO: {@code Request-Idempotency-Key}, 24 h, 409 while an attempt is in progress.
     *
     * @return the format
     */
    public static ProviderFormat ppro() {
        return ProviderFormat.of("Request-Idempotency-Key", DAY).withConflict(ConflictMeaning.IN_PROGRESS);
    }

    /**
     * TrueLayer: 30 days.
     *
     * @return the format
     */
    public static ProviderFormat trueLayer() {
        return ProviderFormat.of(STANDARD_HEADER, Duration.ofDays(30));
    }

    /**
     * Qonto: {@code X-Qonto-Idempotency-Key}, 30 min only; a repeat with another body gets the first answer.
     *
     * @return the format
     */
    public static ProviderFormat qonto() {
        return ProviderFormat.of("X-Qonto-Idempotency-Key", Duration.ofMinutes(30));
    }

    /**
     * Enfuce: {@code x-idempotency-key}, 64 characters, 24 h.
     *
     * @return the format
     */
    public static ProviderFormat enfuce() {
        return ProviderFormat.of("x-idempotency-key", DAY).withKeys(64, KeyAlphabet.PRINTABLE_ASCII);
    }

    /**
     * FullStory: everything but 429 and 5xx is kept.
     *
     * @param retention it publishes none
     * @return the format
     */
    public static ProviderFormat fullStory(Duration retention) {
        return ProviderFormat.of(STANDARD_HEADER, retention);
    }
}
