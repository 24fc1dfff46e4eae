package dev.idempotency.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UnsupportedEncodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request as the chain sees it: its body has been read once for the fingerprint and is given again, as stream, as
 * reader, or as form parameters.
 *
 * <p>A multipart body that the container has parsed stays the container's: parts and parameters come from there.
 */
final class ReplayableRequest extends HttpServletRequestWrapper {
    private final RequestBody body;
    private final @Nullable LeasedExchange exchange;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;
    private @Nullable Map<String, String[]> parameters;
    private @Nullable AsyncContext asyncContext;

    /**
     * Wraps the request.
     *
     * @param exchange where asynchronous work ends; null under TRANSACTIONAL, where it is refused
     */
    ReplayableRequest(HttpServletRequest request, RequestBody body, @Nullable LeasedExchange exchange) {
        super(request);
        this.body = body;
        this.exchange = exchange;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (body.isParsed()) {
            return super.getInputStream();
        }
        if (reader != null) {
            throw new IllegalStateException("getReader() has been called on this request");
        }
        if (stream == null) {
            stream = new BodyStream(body.open(), body.size());
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (body.isParsed()) {
            return super.getReader();
        }
        if (stream != null) {
            throw new IllegalStateException("getInputStream() has been called on this request");
        }
        if (reader == null) {
            reader = new BufferedReader(new InputStreamReader(body.open(), charset(defaultCharset())));
        }
        return reader;
    }

    /** RFC 8259, section 8.1: JSON is UTF-8 and has no charset parameter. */
    private Charset defaultCharset() {
        String type = getContentType();
        return type != null && type.toLowerCase(Locale.ROOT).contains("json")
                ? StandardCharsets.UTF_8
                : StandardCharsets.ISO_8859_1;
    }

    private Charset charset(Charset otherwise) throws UnsupportedEncodingException {
        String name = getCharacterEncoding();
        if (name == null) {
            return otherwise;
        }
        try {
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            throw new UnsupportedEncodingException(name);
        }
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
        return !body.isParsed() && FormBody.isForm(getContentType());
    }

    /** The container finds the body read and gives the query's parameters alone; those of the body come after them. */
    private Map<String, String[]> withForm(Map<String, String[]> fromQuery) {
        try {
            return FormBody.merge(fromQuery, body.toBytes(), charset(StandardCharsets.UTF_8));
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalStateException("The form in the request's body cannot be read", e);
        }
    }

    /**
     * Clears what is held before a forward, as the container does with its own buffer, which is not where the bytes are.
     */
    @Override
    public @Nullable RequestDispatcher getRequestDispatcher(String path) {
        RequestDispatcher dispatcher = super.getRequestDispatcher(path);
        return dispatcher == null ? null : new ClearingDispatcher(dispatcher);
    }

    private record ClearingDispatcher(RequestDispatcher dispatcher) implements RequestDispatcher {
        @Override
        public void forward(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            response.resetBuffer();
            dispatcher.forward(request, response);
        }

        @Override
        public void include(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            dispatcher.include(request, response);
        }
    }

    @Override
    public boolean isAsyncSupported() {
        return exchange != null && super.isAsyncSupported();
    }

    /** Starts with this request and the held response, so that the application never holds the container's own. */
    @Override
    public AsyncContext startAsync() {
        return startAsync(this, requireLeased().visibleResponse(), true);
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        return startAsync(request, response, false);
    }

    private AsyncContext startAsync(ServletRequest request, ServletResponse response, boolean original) {
        LeasedExchange leased = requireLeased();
        asyncContext = leased.started(super.startAsync(request, response), request, response, original);
        return asyncContext;
    }

    private LeasedExchange requireLeased() {
        if (exchange == null) {
            throw new IllegalStateException("The servlet " + servletName()
                    + " called startAsync under TRANSACTIONAL, whose transaction ends with the request's own thread:"
                    + " protect it with LEASED, for instance by @Idempotent(protection = LEASED) on its class");
        }
        return exchange;
    }

    private String servletName() {
        String name = getHttpServletMapping().getServletName();
        ServletRegistration registration = getServletContext().getServletRegistration(name);
        return registration == null ? name : name + " (" + registration.getClassName() + ")";
    }

    @Override
    public AsyncContext getAsyncContext() {
        return asyncContext == null ? super.getAsyncContext() : asyncContext;
    }

    private static final class BodyStream extends ServletInputStream {
        private final InputStream input;
        private long left;

        BodyStream(InputStream input, long size) {
            this.input = input;
            this.left = size;
        }

        @Override
        public int read() throws IOException {
            int value = input.read();
            left -= value < 0 ? 0 : 1;
            return value;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = input.read(bytes, offset, length);
            left -= Math.max(0, count);
            return count;
        }

        @Override
        public int available() {
            return (int) Math.min(Integer.MAX_VALUE, left);
        }

        @Override
        public void close() throws IOException {
            input.close();
        }

        @Override
        public boolean isFinished() {
            return left == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        /** The whole body is here already, so everything can be told at once. */
        @Override
        public void setReadListener(ReadListener listener) {
            try {
                if (!isFinished()) {
                    listener.onDataAvailable();
                }
                if (isFinished()) {
                    listener.onAllDataRead();
                }
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
