package dev.idempotency.servlet;

/** The limits under which the services of the tests run: small, so that tests reach them. */
final class TestLimits {
    /** Of a request's body, in memory and at all. */
    static final BufferLimits REQUEST = new BufferLimits(4 << 10, 256 << 10);

    /** Of a response's body, in memory and at all. */
    static final BufferLimits RESPONSE = new BufferLimits(4 << 10, 512 << 10);

    /** Of a response's body that is stored. */
    static final int REPLAY = 64 << 10;

    /** Of one part of a multipart body, by the container. */
    static final long PART = 100 << 10;

    /** Of all parts of a multipart body, by the container. */
    static final long PARTS = 300 << 10;

    private TestLimits() {}
}
