package dev.idempotency.servlet;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;

/** A request whose body has been read from the client already. */
final class BodyAtHand extends HttpServletRequestWrapper {
    private final byte[] body;

    private BodyAtHand(HttpServletRequest request, byte[] body) {
        super(request);
        this.body = body;
    }

    static BodyAtHand of(HttpServletRequest request) throws IOException {
        return new BodyAtHand(request, request.getInputStream().readAllBytes());
    }

    @Override
    public ServletInputStream getInputStream() {
        ByteArrayInputStream bytes = new ByteArrayInputStream(body);
        return new ServletInputStream() {
            @Override
            public int read() {
                return bytes.read();
            }

            @Override
            public int read(byte[] target, int offset, int length) {
                return bytes.read(target, offset, length);
            }

            @Override
            public boolean isFinished() {
                return bytes.available() == 0;
            }

            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void setReadListener(ReadListener listener) {
                throw new IllegalStateException("The request is not asynchronous");
            }
        };
    }
}
