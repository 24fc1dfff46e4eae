package dev.idempotency.client;

import java.net.http.HttpHeaders;

/** What an answer's status and headers mean for the call. */
enum Verdict {
    /** Another attempt would not change it. */
    ANSWER,
    /** Another attempt may bring the answer. */
    RETRY,
    /** Whether the provider acted is open, and it asks not to be asked again. */
    STOP;

    /** Judges an answer; the statuses are those of DESIGN section 7. */
    static Verdict of(int status, HttpHeaders headers, ProviderFormat format) {
        if (status < 400 || status == 400 || status == 422) {
            return ANSWER;
        }
        String asked = format.retryHeader().isEmpty()
                ? ""
                : headers.firstValue(format.retryHeader()).orElse("");
        if (asked.equalsIgnoreCase("true")) {
            return RETRY;
        }
        boolean inDoubt = status >= 500 || status == 408;
        if (asked.equalsIgnoreCase("false")) {
            return inDoubt ? STOP : ANSWER;
        }
        boolean retried = inDoubt
                || status == 425
                || status == 429
                || (status == 409 && isInProgress(headers, format.conflict()));
        return retried ? RETRY : ANSWER;
    }

    private static boolean isInProgress(HttpHeaders headers, ConflictMeaning meaning) {
        return switch (meaning) {
            case IN_PROGRESS -> true;
            case IN_PROGRESS_IF_RETRY_AFTER -> headers.firstValue("Retry-After").isPresent();
            case ANSWER -> false;
        };
    }
}
