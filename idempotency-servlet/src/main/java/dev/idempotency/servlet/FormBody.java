package dev.idempotency.servlet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the parameters of a form from a body that the container can no longer read. */
final class FormBody {
    private static final int MAX_PARAMETERS = 10_000;

    private FormBody() {}

    static boolean isForm(@Nullable String contentType) {
        return contentType != null
                && contentType.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }

    /**
     * Finds without decoding whether {@link #merge} can read the body.
     *
     * @throws IllegalArgumentException as {@link #merge}
     * @throws IOException what the stream threw
     */
    static void requireReadable(InputStream body) throws IOException {
        int parameters = 0;
        boolean begun = false;
        for (int value = body.read(); value >= 0; value = body.read()) {
            if (value == '&') {
                begun = false;
                continue;
            }
            if (!begun) {
                begun = true;
                requireRoom(++parameters);
            }
            if (value == '%') {
                requireDigit(body.read());
                requireDigit(body.read());
            }
        }
    }

    private static void requireRoom(int parameters) {
        if (parameters > MAX_PARAMETERS) {
            throw new IllegalArgumentException("A form has at most " + MAX_PARAMETERS + " parameters");
        }
    }

    private static int requireDigit(int character) {
        int value = character < 0 ? -1 : Character.digit(character, 16);
        if (value < 0) {
            throw new IllegalArgumentException("A percent sign in a form is followed by two hexadecimal digits");
        }
        return value;
    }

    /**
     * Returns the parameters of the query with those of the body behind them.
     *
     * @throws IllegalArgumentException if there are more than 10,000 or an escape is broken
     */
    static Map<String, String[]> merge(Map<String, String[]> fromQuery, byte[] body, Charset charset) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        fromQuery.forEach((name, values) -> all.put(name, new ArrayList<>(Arrays.asList(values))));
        int count = 0;
        for (int start = 0; start < body.length; ) {
            int end = indexOf(body, '&', start, body.length);
            if (end > start) {
                requireRoom(++count);
                int equals = indexOf(body, '=', start, end);
                String name = decode(body, start, equals, charset);
                String value = equals == end ? "" : decode(body, equals + 1, end, charset);
                all.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
            }
            start = end + 1;
        }
        Map<String, String[]> merged = new LinkedHashMap<>();
        all.forEach((name, values) -> merged.put(name, values.toArray(String[]::new)));
        return merged;
    }

    private static int indexOf(byte[] bytes, char wanted, int start, int end) {
        for (int i = start; i < end; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return end;
    }

    /** URL Standard, section 5.1: on bytes, so that a raw byte and its escape are the same. */
    private static String decode(byte[] body, int start, int end, Charset charset) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(end - start);
        for (int i = start; i < end; i++) {
            if (body[i] == '+') {
                bytes.write(' ');
            } else if (body[i] == '%') {
                bytes.write(digit(body, i + 1, end) * 16 + digit(body, i + 2, end));
                i += 2;
            } else {
                bytes.write(body[i]);
            }
        }
        return bytes.toString(charset);
    }

    private static int digit(byte[] body, int position, int end) {
        return requireDigit(position < end ? body[position] : -1);
    }
}
