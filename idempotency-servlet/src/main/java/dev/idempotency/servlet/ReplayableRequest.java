package dev.idempotency.servlet;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request as the chain sees it: its body has been read once for the fingerprint and is given again, as stream, as
 * reader, or as form parameters.
 */
final class ReplayableRequest extends HttpServletRequestWrapper {
    private static final int MAX_FORM_PARAMETERS = 10_000;

    private final SpillBuffer body;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;
    private @Nullable Map<String, String[]> parameters;

    ReplayableRequest(HttpServletRequest request, SpillBuffer body) {
        super(request);
        this.body = body;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (reader != null) {
            throw new IllegalStateException("getReader() has been called on this request");
        }
        if (stream == null) {
            stream = new BodyStream(body.open());
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (stream != null) {
            throw new IllegalStateException("getInputStream() has been called on this request");
        }
        if (reader == null) {
            reader = new BufferedReader(new InputStreamReader(body.open(), charset(StandardCharsets.ISO_8859_1)));
        }
        return reader;
    }

    private Charset charset(Charset otherwise) {
        String name = getCharacterEncoding();
        if (name != null) {
            return Charset.forName(name);
        }
        // RFC 8259, section 8.1: JSON is UTF-8 and has no charset parameter.
        String type = getContentType();
        return type != null && type.toLowerCase(Locale.ROOT).contains("json") ? StandardCharsets.UTF_8 : otherwise;
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = parameters().get(name);
        return values == null ? null : values[0];
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        return Collections.unmodifiableMap(parameters());
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return Collections.enumeration(parameters().keySet());
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] values = parameters().get(name);
        return values == null ? null : values.clone();
    }

    private Map<String, String[]> parameters() {
        if (parameters == null) {
            parameters = isForm() ? withForm(super.getParameterMap()) : super.getParameterMap();
        }
        return parameters;
    }

    private boolean isForm() {
        String type = getContentType();
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }

    /** The container finds the body read and gives the query's parameters alone; those of the body come after them. */
    private Map<String, String[]> withForm(Map<String, String[]> fromQuery) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        fromQuery.forEach((name, values) -> all.put(name, new ArrayList<>(Arrays.asList(values))));
        Charset charset = charset(StandardCharsets.UTF_8);
        String text;
        try {
            text = new String(body.toBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int count = 0;
        for (String pair : text.split("&", -1)) {
            if (pair.isEmpty()) {
                continue;
            }
            if (++count > MAX_FORM_PARAMETERS) {
                throw new IllegalStateException("A form has at most " + MAX_FORM_PARAMETERS + " parameters");
            }
            int equals = pair.indexOf('=');
            String name = URLDecoder.decode(equals < 0 ? pair : pair.substring(0, equals), charset);
            String value = equals < 0 ? "" : URLDecoder.decode(pair.substring(equals + 1), charset);
            all.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
        }
        Map<String, String[]> merged = new LinkedHashMap<>();
        all.forEach((name, values) -> merged.put(name, values.toArray(String[]::new)));
        return merged;
    }

    private static final class BodyStream extends ServletInputStream {
        private final InputStream input;
        private boolean finished;

        BodyStream(InputStream input) {
            this.input = input;
        }

        @Override
        public int read() throws IOException {
            int value = input.read();
            finished |= value < 0;
            return value;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = input.read(bytes, offset, length);
            finished |= count < 0;
            return count;
        }

        @Override
        public int available() throws IOException {
            return input.available();
        }

        @Override
        public void close() throws IOException {
            input.close();
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        /** The whole body is here already, so everything can be told at once. */
        @Override
        public void setReadListener(ReadListener listener) {
            try {
                listener.onDataAvailable();
                listener.onAllDataRead();
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
