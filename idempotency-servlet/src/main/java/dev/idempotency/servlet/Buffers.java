package dev.idempotency.servlet;

import java.io.IOException;

/** The two bodies of one request; they outlive the filter where the request does. */
final class Buffers {
    private final RequestBody requestBody;
    private final SpillBuffer responseBody;
    private boolean kept;

    Buffers(RequestBody requestBody, SpillBuffer responseBody) {
        this.requestBody = requestBody;
        this.responseBody = responseBody;
    }

    RequestBody requestBody() {
        return requestBody;
    }

    SpillBuffer responseBody() {
        return responseBody;
    }

    /** From now on somebody else closes them. */
    void keep() {
        kept = true;
    }

    void closeUnlessKept() throws IOException {
        if (!kept) {
            close();
        }
    }

    void close() throws IOException {
        try (requestBody;
                responseBody) {
            kept = true;
        }
    }
}
