package dev.idempotency.servlet;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import java.io.UnsupportedEncodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The status and headers that the chain has set, none of which is in the container's response yet.
 *
 * <p>What filters before this one had set stays visible and stays in the answer unless the chain replaces it.
 */
final class HeldHead {
    private static final Pattern CHARSET =
            Pattern.compile(";\\s*charset\\s*=\\s*(?:\"([^\"]*)\"|([^;\\s]*))", Pattern.CASE_INSENSITIVE);

    /** RFC 9110, section 5.6.7: a day of the month always has two digits. */
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final Map<String, List<String>> before = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final String defaultCharset;
    private final Map<String, Lines> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final List<Cookie> cookies = new ArrayList<>();
    private int status = HttpServletResponse.SC_OK;
    private boolean cleared;
    private @Nullable String type;
    private boolean typeSet;
    private @Nullable String charset;
    private boolean charsetFixed;
    private @Nullable Locale locale;
    private @Nullable Supplier<Map<String, String>> trailers;

    /** The lines of one header: added to those there were before, or in their place. */
    private static final class Lines {
        private final List<String> values = new ArrayList<>();
        private boolean replacing;
    }

    HeldHead(HttpServletResponse target) {
        for (String name : target.getHeaderNames()) {
            if (!name.equalsIgnoreCase("Content-Type")) {
                before.put(name, new ArrayList<>(target.getHeaders(name)));
            }
        }
        defaultCharset = target.getCharacterEncoding();
        readType(target.getContentType());
    }

    int status() {
        return status;
    }

    void status(int code) {
        status = code;
    }

    void set(String name, @Nullable String value) {
        if (isType(name)) {
            contentType(value);
        } else if (!isLength(name)) {
            Lines lines = new Lines();
            lines.replacing = true;
            if (value != null) {
                lines.values.add(value);
            }
            headers.put(name, lines);
        }
    }

    void add(String name, @Nullable String value) {
        if (isType(name)) {
            contentType(value);
        } else if (!isLength(name) && value != null) {
            headers.computeIfAbsent(name, unused -> new Lines()).values.add(value);
        }
    }

    void cookie(Cookie cookie) {
        cookies.add((Cookie) cookie.clone());
    }

    Collection<String> values(String name) {
        if (isType(name)) {
            String present = contentType();
            return present == null ? List.of() : List.of(present);
        }
        List<String> values = new ArrayList<>();
        Lines lines = headers.get(name);
        if (lines == null || !lines.replacing) {
            values.addAll(cleared ? List.of() : before.getOrDefault(name, List.of()));
        }
        if (lines != null) {
            values.addAll(lines.values);
        }
        return values;
    }

    Collection<String> names() {
        Set<String> names = new LinkedHashSet<>();
        if (!cleared) {
            names.addAll(before.keySet());
        }
        names.addAll(headers.keySet());
        if (contentType() != null) {
            names.add("Content-Type");
        }
        names.removeIf(name -> values(name).isEmpty());
        return names;
    }

    void contentType(@Nullable String value) {
        typeSet = true;
        if (value == null) {
            type = null;
            charset = charsetFixed ? charset : null;
        } else {
            readType(value);
        }
    }

    private void readType(@Nullable String value) {
        if (value == null) {
            return;
        }
        Matcher parameter = CHARSET.matcher(value);
        if (!parameter.find()) {
            type = value.trim();
            return;
        }
        type = (value.substring(0, parameter.start()) + value.substring(parameter.end())).trim();
        if (!charsetFixed) {
            charset = parameter.group(1) == null ? parameter.group(2) : parameter.group(1);
        }
    }

    @Nullable
    String contentType() {
        return type == null || charset == null ? type : type + ";charset=" + charset;
    }

    void charset(@Nullable String name) {
        if (!charsetFixed) {
            charset = name;
        }
    }

    String charset() {
        if (charset != null) {
            return charset;
        }
        return isJson() ? "UTF-8" : defaultCharset;
    }

    /** RFC 8259, section 8.1: JSON is UTF-8 and has no charset parameter. */
    private boolean isJson() {
        return type != null && type.toLowerCase(Locale.ROOT).matches("application/([^;]*\\+)?json(\\s*;.*)?");
    }

    /** Once there is a writer its charset stays, and the content type names it. */
    Charset fixCharset() throws UnsupportedEncodingException {
        String name = charset();
        Charset found;
        try {
            found = Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            throw new UnsupportedEncodingException(name);
        }
        if (charset == null && !isJson()) {
            charset = name;
        }
        charsetFixed = true;
        return found;
    }

    boolean isEventStream() {
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
    }

    void locale(Locale value) {
        locale = value;
        set("Content-Language", value.toLanguageTag());
    }

    @Nullable
    Locale locale() {
        return locale;
    }

    void trailers(Supplier<Map<String, String>> supplier) {
        trailers = supplier;
    }

    @Nullable
    Supplier<Map<String, String>> trailers() {
        return trailers;
    }

    /** Forgets everything, also what filters before this one had set: the meaning of a response's reset. */
    void clear() {
        cleared = true;
        headers.clear();
        cookies.clear();
        status = HttpServletResponse.SC_OK;
        type = null;
        charset = null;
        charsetFixed = false;
        typeSet = true;
        locale = null;
        trailers = null;
    }

    /**
     * Checks the size of the head: containers do so when they send it, which is after the commit, and then answer 500 to
     * the first request and to each of its repeats.
     *
     * @throws IllegalStateException if all lines together have more bytes
     */
    void requireAtMost(int limit) {
        long size = 0;
        for (String name : names()) {
            for (String value : values(name)) {
                size += lineSize(name, value);
            }
        }
        for (Cookie cookie : cookies) {
            size += lineSize("Set-Cookie", cookie.getName() + "=" + cookie.getValue());
            for (Map.Entry<String, String> attribute : cookie.getAttributes().entrySet()) {
                size += lineSize(attribute.getKey(), attribute.getValue());
            }
        }
        if (size > limit) {
            throw new IllegalStateException("The headers of the answer have " + size + " bytes, more than the " + limit
                    + " that headerLimit allows: put such content in the body, or raise the container's limit on"
                    + " response headers and then headerLimit");
        }
    }

    /** With the separators; a name or a value in UTF-8, the longest of the encodings that containers use. */
    private static int lineSize(String name, @Nullable String value) {
        int size = name.getBytes(StandardCharsets.UTF_8).length + 4;
        return value == null ? size : size + value.getBytes(StandardCharsets.UTF_8).length;
    }

    /**
     * Writes everything but the status to the container's response, so that what the container refuses is refused while
     * the work can still be rolled back.
     */
    void writeTo(HttpServletResponse target) {
        if (cleared) {
            target.reset();
            hold(target);
        }
        if (locale != null) {
            target.setLocale(locale);
        }
        if (typeSet) {
            target.setContentType(contentType());
        }
        if (charset != null) {
            target.setCharacterEncoding(charset);
        }
        headers.forEach((name, lines) -> write(target, name, lines));
        cookies.forEach(target::addCookie);
        if (trailers != null) {
            target.setTrailerFields(trailers);
        }
    }

    private static void write(HttpServletResponse target, String name, Lines lines) {
        boolean replace = lines.replacing;
        if (replace && lines.values.isEmpty()) {
            target.setHeader(name, null);
        }
        for (String value : lines.values) {
            if (replace) {
                target.setHeader(name, value);
                replace = false;
            } else {
                target.addHeader(name, value);
            }
        }
    }

    /** Takes back what {@link #writeTo} wrote: what was there before the chain is there again. */
    void takeBackFrom(HttpServletResponse target) {
        target.reset();
        hold(target);
        before.forEach((name, values) -> values.forEach(value -> target.addHeader(name, value)));
    }

    /** A reset makes the status 200, and whoever ends the response before it is released must not show a success. */
    static void hold(HttpServletResponse target) {
        target.setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
    }

    static String date(long millis) {
        return HTTP_DATE.format(Instant.ofEpochMilli(millis));
    }

    private static boolean isType(String name) {
        return name.equalsIgnoreCase("Content-Type");
    }

    /** The length is counted when the body is sent; one that the chain announces would end the answer early. */
    private static boolean isLength(String name) {
        return name.equalsIgnoreCase("Content-Length");
    }
}
