package dev.idempotency.testkit.http;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One answer as it came over the socket.
 *
 * @param status the status code
 * @param headers the header lines by lower-case name
 * @param body the body, decoded as UTF-8
 */
public record HttpAnswer(int status, Map<String, List<String>> headers, String body) {
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
}
