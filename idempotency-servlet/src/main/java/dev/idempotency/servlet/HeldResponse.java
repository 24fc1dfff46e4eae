package dev.idempotency.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The response as the chain sees it: everything it sets and writes is held back until it is known whether it may go out
 * (rule T3).
 *
 * <p>The container's response meanwhile says 503, so that an answer which nobody releases, for whatever reason, is never
 * taken for a success. Until it is released the response says that it is not committed, also after a flush, because
 * nothing has left.
 */
final class HeldResponse extends HttpServletResponseWrapper {
    private static final Logger log = LoggerFactory.getLogger(HeldResponse.class);

    private final HttpServletResponse target;
    private final SpillBuffer body;
    private final HeldHead head;
    private final int headerLimit;
    private final @Nullable Streaming streaming;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;
    private @Nullable SentError error;
    private @Nullable IOException failure;
    private boolean ended;
    private boolean written;
    private boolean live;

    /** An error that the container is to render. */
    record SentError(int status, @Nullable String message) {}

    /** Makes it right that bytes leave before the work has ended; absent where it cannot be right. */
    interface Streaming {
        /**
         * Records that the answer cannot be given again.
         *
         * @throws IOException if that could not be recorded: nothing may leave then
         */
        void begin(int status) throws IOException;
    }

    HeldResponse(HttpServletResponse target, SpillBuffer body, int headerLimit, @Nullable Streaming streaming) {
        super(target);
        this.target = target;
        this.body = body;
        this.headerLimit = headerLimit;
        this.head = new HeldHead(target);
        this.streaming = streaming;
        HeldHead.hold(target);
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

    /** The status as the chain means it, also of an error to be rendered. */
    int status() {
        return error == null ? head.status() : error.status();
    }

    boolean isLive() {
        return live;
    }

    /**
     * Checks while the work can still be rolled back that the answer can go out: all of it was taken, and the container
     * accepts its headers.
     *
     * @throws IOException as {@link #requireWhole()}
     * @throws IllegalStateException if the headers are larger than the limit
     */
    void prepare() throws IOException {
        requireWhole();
        if (!live) {
            head.requireAtMost(headerLimit);
            head.writeTo(target);
            written = true;
        }
    }

    /**
     * Checks that every byte of the answer was taken.
     *
     * @throws IOException what a write failed with, which writers and some frameworks keep to themselves
     */
    void requireWhole() throws IOException {
        body();
        if (failure != null) {
            throw failure;
        }
    }

    /** Sends what was held back; {@link #prepare()} came before. */
    void release() throws IOException {
        SpillBuffer held = body();
        if (!live && target.isCommitted()) {
            log.error("The container had ended its response before the answer was released, so the client got none; its"
                    + " repeat gets it");
        }
        if (live) {
            target.flushBuffer();
        } else if (error == null) {
            target.setStatus(head.status());
            send(held);
        } else if (error.message() == null) {
            target.sendError(error.status());
        } else {
            target.sendError(error.status(), error.message());
        }
    }

    private void send(SpillBuffer held) throws IOException {
        if (held.size() > 0) {
            if (head.trailers() == null) {
                target.setContentLengthLong(held.size());
            }
            held.writeTo(target.getOutputStream());
        }
        target.flushBuffer();
    }

    /** Gives the container's response back as it was before the chain, so that another answer can be written to it. */
    void drop() {
        if (written && !live) {
            head.takeBackFrom(target);
        }
    }

    /** From here on everything goes to the client as it is written. */
    void goLive() throws IOException {
        if (live) {
            return;
        }
        if (streaming == null) {
            throw new IllegalStateException(
                    "A response cannot be streamed under TRANSACTIONAL: nothing may leave before"
                            + " the commit. Protect the servlet with LEASED, whose answer is then not replayable");
        }
        if (isCommitted()) {
            throw new IllegalStateException("The response had ended before it was to be streamed");
        }
        head.requireAtMost(headerLimit);
        SpillBuffer held = body();
        streaming.begin(head.status());
        live = true;
        head.writeTo(target);
        target.setStatus(head.status());
        held.writeTo(target.getOutputStream());
        held.clear();
    }

    @Override
    public int getStatus() {
        return status();
    }

    @Override
    public void setStatus(int status) {
        if (!isCommitted()) {
            head.status(status);
        }
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (!isCommitted()) {
            head.set(name, value);
        }
    }

    @Override
    public void addHeader(String name, @Nullable String value) {
        if (!isCommitted()) {
            head.add(name, value);
        }
    }

    @Override
    public void setIntHeader(String name, int value) {
        setHeader(name, Integer.toString(value));
    }

    @Override
    public void addIntHeader(String name, int value) {
        addHeader(name, Integer.toString(value));
    }

    @Override
    public void setDateHeader(String name, long date) {
        setHeader(name, HeldHead.date(date));
    }

    @Override
    public void addDateHeader(String name, long date) {
        addHeader(name, HeldHead.date(date));
    }

    @Override
    public void addCookie(Cookie cookie) {
        if (!isCommitted()) {
            head.cookie(cookie);
        }
    }

    @Override
    public boolean containsHeader(String name) {
        return !head.values(name).isEmpty();
    }

    @Override
    public @Nullable String getHeader(String name) {
        return head.values(name).stream().findFirst().orElse(null);
    }

    @Override
    public Collection<String> getHeaders(String name) {
        return head.values(name);
    }

    @Override
    public Collection<String> getHeaderNames() {
        return head.names();
    }

    @Override
    public @Nullable String getContentType() {
        return head.contentType();
    }

    @Override
    public void setContentType(@Nullable String type) {
        if (!isCommitted()) {
            head.contentType(type);
        }
    }

    @Override
    public String getCharacterEncoding() {
        return head.charset();
    }

    @Override
    public void setCharacterEncoding(@Nullable String charset) {
        if (!isCommitted()) {
            head.charset(charset);
        }
    }

    /** Overrides the method of Servlet 6.1, which would reach the container's response; unknown to 6.0. */
    @SuppressWarnings("MissingOverride")
    public void setCharacterEncoding(Charset charset) {
        setCharacterEncoding(charset.name());
    }

    @Override
    public void setLocale(Locale locale) {
        if (!isCommitted()) {
            head.locale(locale);
        }
    }

    @Override
    public Locale getLocale() {
        Locale set = head.locale();
        return set == null ? super.getLocale() : set;
    }

    @Override
    public void setTrailerFields(Supplier<Map<String, String>> supplier) {
        if (isCommitted()) {
            throw new IllegalStateException("Trailers were set after the response had ended");
        }
        head.trailers(supplier);
    }

    @Override
    public @Nullable Supplier<Map<String, String>> getTrailerFields() {
        return head.trailers();
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
    public PrintWriter getWriter() throws IOException {
        if (stream != null) {
            throw new IllegalStateException("getOutputStream() has been called on this response");
        }
        if (writer == null) {
            writer = new PrintWriter(new OutputStreamWriter(new HeldStream(), head.fixCharset()), false);
        }
        return writer;
    }

    /** Nothing leaves before the commit, so this waits for it; in a live response it flushes. */
    @Override
    public void flushBuffer() throws IOException {
        SpillBuffer held = body();
        if (!live && streaming != null && head.isEventStream() && !isCommitted()) {
            goLive();
        }
        if (live) {
            target.flushBuffer();
        } else {
            held.flush();
        }
    }

    @Override
    public boolean isCommitted() {
        return live || ended || error != null;
    }

    @Override
    public void reset() {
        requireNotCommitted("reset");
        clearBody();
        head.clear();
        stream = null;
        writer = null;
    }

    @Override
    public void resetBuffer() {
        requireNotCommitted("resetBuffer");
        clearBody();
    }

    @Override
    public void sendError(int status) {
        sendError(status, null);
    }

    @Override
    public void sendError(int status, @Nullable String message) {
        requireNotCommitted("sendError");
        clearBody();
        error = new SentError(status, message);
    }

    @Override
    public void sendRedirect(String location) {
        sendRedirect(location, SC_FOUND, true);
    }

    /** Overrides the method of Servlet 6.1, which would reach the container's response; unknown to 6.0. */
    @SuppressWarnings("MissingOverride")
    public void sendRedirect(String location, int status) {
        sendRedirect(location, status, true);
    }

    /** Overrides the method of Servlet 6.1, which would reach the container's response; unknown to 6.0. */
    @SuppressWarnings("MissingOverride")
    public void sendRedirect(String location, boolean clearBuffer) {
        sendRedirect(location, SC_FOUND, clearBuffer);
    }

    /** Overrides the method of Servlet 6.1, which would reach the container's response; unknown to 6.0. */
    @SuppressWarnings("MissingOverride")
    public void sendRedirect(String location, int status, boolean clearBuffer) {
        requireNotCommitted("sendRedirect");
        if (clearBuffer) {
            clearBody();
        }
        head.status(status);
        head.set("Location", location);
        ended = true;
    }

    /** The length is counted when the body is sent. */
    @Override
    public void setContentLength(int length) {
        // See HeldHead: an announced length would end the answer early.
    }

    /** The length is counted when the body is sent. */
    @Override
    public void setContentLengthLong(long length) {
        // See HeldHead: an announced length would end the answer early.
    }

    @Override
    public void setBufferSize(int size) {
        // All of the body is held anyway.
    }

    private void clearBody() {
        try {
            body().clear();
        } catch (IOException e) {
            throw new IllegalStateException("The held response could not be cleared", e);
        }
    }

    private void requireNotCommitted(String method) {
        if (isCommitted()) {
            throw new IllegalStateException(method + " was called after the response had ended");
        }
    }

    private final class HeldStream extends ServletOutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (error != null || ended) {
                return;
            }
            try {
                if (!live && streaming != null && head.isEventStream()) {
                    goLiveWithinWrite();
                }
                pass(bytes, offset, length);
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }

        private void pass(byte[] bytes, int offset, int length) throws IOException {
            if (!live) {
                try {
                    body.write(bytes, offset, length);
                    return;
                } catch (SpillBuffer.TooLargeException e) {
                    if (streaming == null) {
                        throw e;
                    }
                    goLiveWithinWrite();
                }
            }
            target.getOutputStream().write(bytes, offset, length);
        }

        /** The writer above is in the middle of a flush and must not be flushed again. */
        private void goLiveWithinWrite() throws IOException {
            PrintWriter above = writer;
            writer = null;
            try {
                goLive();
            } finally {
                writer = above;
            }
        }

        @Override
        public void flush() throws IOException {
            if (live) {
                target.getOutputStream().flush();
            }
        }

        @Override
        public void close() throws IOException {
            ended = true;
            if (live) {
                target.getOutputStream().close();
            }
        }

        @Override
        public boolean isReady() {
            try {
                return !live || target.getOutputStream().isReady();
            } catch (IOException e) {
                return true;
            }
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            try {
                if (live) {
                    target.getOutputStream().setWriteListener(listener);
                } else {
                    listener.onWritePossible();
                }
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
