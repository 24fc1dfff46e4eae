package dev.idempotency.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The response as the chain sees it: everything it writes is held back until it is known whether it may go out (rule
 * T3).
 *
 * <p>Headers and status stand in the container's response, which is not committed as long as nothing is written to it;
 * what was there before the chain is remembered, so that the chain's own can be dropped.
 */
final class BufferedResponse extends HttpServletResponseWrapper {
    private final HttpServletResponse target;
    private final SpillBuffer body;
    private final Map<String, List<String>> headersBefore;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;
    private @Nullable SentError error;
    private boolean flushed;

    /** An error that the container is to render. */
    record SentError(int status, @Nullable String message) {}

    BufferedResponse(HttpServletResponse target, SpillBuffer body) {
        super(target);
        this.target = target;
        this.body = body;
        this.headersBefore = headersOf(target);
    }

    private static Map<String, List<String>> headersOf(HttpServletResponse response) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (String name : response.getHeaderNames()) {
            headers.put(name, new ArrayList<>(response.getHeaders(name)));
        }
        return headers;
    }

    /** The bytes written so far; writers are flushed into them. */
    SpillBuffer body() {
        if (writer != null) {
            writer.flush();
        }
        return body;
    }

    @Nullable
    SentError error() {
        return error;
    }

    int status() {
        return error == null ? getStatus() : error.status();
    }

    /** Sends what was held back. */
    void deliver() throws IOException {
        if (error != null) {
            if (error.message() == null) {
                target.sendError(error.status());
            } else {
                target.sendError(error.status(), error.message());
            }
            return;
        }
        SpillBuffer held = body();
        if (held.size() > 0) {
            target.setContentLengthLong(held.size());
            held.writeTo(target.getOutputStream());
        }
        target.flushBuffer();
    }

    /** Forgets everything the chain wrote and set, and leaves what was there before it. */
    void drop() throws IOException {
        body.clear();
        target.reset();
        headersBefore.forEach((name, values) -> values.forEach(value -> target.addHeader(name, value)));
    }

    @Override
    public ServletOutputStream getOutputStream() {
        if (writer != null) {
            throw new IllegalStateException("getWriter() has been called on this response");
        }
        if (stream == null) {
            stream = new HeldStream();
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() {
        if (stream != null) {
            throw new IllegalStateException("getOutputStream() has been called on this response");
        }
        if (writer == null) {
            String charset = getCharacterEncoding();
            // The container's own getWriter() would add the charset to the content type; it is never called.
            setCharacterEncoding(charset);
            writer = new PrintWriter(new OutputStreamWriter(new HeldStream(), Charset.forName(charset)), false);
        }
        return writer;
    }

    @Override
    public void flushBuffer() {
        if (writer != null) {
            writer.flush();
        }
        flushed = true;
    }

    @Override
    public boolean isCommitted() {
        return flushed || error != null;
    }

    @Override
    public void reset() {
        requireNotCommitted("reset");
        clear();
        super.reset();
        stream = null;
        writer = null;
    }

    @Override
    public void resetBuffer() {
        requireNotCommitted("resetBuffer");
        clear();
    }

    @Override
    public void sendError(int status) {
        sendError(status, null);
    }

    @Override
    public void sendError(int status, @Nullable String message) {
        requireNotCommitted("sendError");
        clear();
        error = new SentError(status, message);
    }

    @Override
    public void sendRedirect(String location) {
        requireNotCommitted("sendRedirect");
        clear();
        setStatus(SC_FOUND);
        setHeader("Location", location);
        flushed = true;
    }

    /** The container must not see the length before the body: it would commit as soon as that many bytes are there. */
    @Override
    public void setContentLength(int length) {
        // Set from the bytes themselves when they are sent.
    }

    @Override
    public void setContentLengthLong(long length) {
        // Set from the bytes themselves when they are sent.
    }

    @Override
    public void setBufferSize(int size) {
        // All of the body is held anyway.
    }

    private void clear() {
        try {
            if (writer != null) {
                writer.flush();
            }
            body.clear();
        } catch (IOException e) {
            throw new IllegalStateException("The held response could not be cleared", e);
        }
    }

    private void requireNotCommitted(String method) {
        if (isCommitted()) {
            throw new IllegalStateException(method + " was called after the response had been flushed or ended");
        }
    }

    private final class HeldStream extends ServletOutputStream {
        @Override
        public void write(int value) throws IOException {
            if (error == null) {
                body.write(value);
            }
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (error == null) {
                body.write(bytes, offset, length);
            }
        }

        @Override
        public void flush() {
            flushed = true;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            try {
                listener.onWritePossible();
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
