package dev.idempotency.testkit.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One answer as it came over the socket.
 *
 * @param status the status code
 * @param headers the header lines by lower-case name, with those of the trailer section behind them
 * @param bytes the body, freed from its transfer coding
 */
@SuppressWarnings("ArrayRecordComponent") // read by tests, which compare what they want to compare
public record HttpAnswer(int status, Map<String, List<String>> headers, byte[] bytes) {
    /**
     * Returns the body as text.
     *
     * @return the bytes decoded as UTF-8
     */
    public String body() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * Returns the first line of a header.
     *
     * @param name the header's name in any case
     * @return its value, or nothing if it did not come
     */
    public Optional<String> header(String name) {
        return headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of()).stream()
                .findFirst();
    }

    /** Returns a text for failed assertions: everything but the body's end. */
    @Override
    public String toString() {
        String text = body();
        return status + " " + headers + " " + text.substring(0, Math.min(500, text.length()));
    }
}
