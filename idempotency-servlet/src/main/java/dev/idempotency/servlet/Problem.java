package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An answer of the filter itself, as a problem document (RFC 9457) with two members of its own: {@code code}, which is
 * stable, and {@code retryable}.
 */
record Problem(
        ProblemCode code,
        int status,
        String detail,
        @Nullable Duration retryAfter) {
    void send(HttpServletResponse response, String typeBase) throws IOException {
        String type = typeBase + code.text();
        byte[] body = json(type).getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("application/problem+json");
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("Link", "<" + type + ">; rel=\"describedby\"; type=\"text/html\"");
        if (retryAfter != null) {
            // RFC 9110, section 10.2.3: whole seconds; rounded up, since asking too early is in vain.
            response.setHeader("Retry-After", Long.toString(Math.max(1, (retryAfter.toMillis() + 999) / 1000)));
        }
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
        response.flushBuffer();
    }

    private String json(String type) {
        return "{\"type\":" + quoted(type) + ",\"title\":" + quoted(code.title()) + ",\"status\":" + status
                + ",\"detail\":" + quoted(detail) + ",\"code\":" + quoted(code.text()) + ",\"retryable\":"
                + code.retryable() + "}";
    }

    /** RFC 8259, section 7: quotes, backslashes and control characters are escaped; so is everything beyond ASCII. */
    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '"' || character == '\\') {
                json.append('\\').append(character);
            } else if (character < 0x20 || character > 0x7e) {
                json.append(String.format("\\u%04x", (int) character));
            } else {
                json.append(character);
            }
        }
        return json.append('"').toString();
    }
}
