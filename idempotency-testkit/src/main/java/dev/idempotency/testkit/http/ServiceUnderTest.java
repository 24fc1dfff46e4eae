package dev.idempotency.testkit.http;

import java.net.URI;

/** The service that {@link HttpIdempotencyContract} asks; users of the suite implement it. */
public interface ServiceUnderTest {
    /**
     * Returns where one operation is, which has an effect and requires a key.
     *
     * @return an absolute http URI
     */
    URI operation();

    /**
     * Returns a valid body of a request to the operation.
     *
     * @param number bodies of different numbers differ, those of the same are equal byte by byte
     * @return the body
     */
    String body(int number);

    /**
     * Returns the media type of the bodies.
     *
     * @return for instance {@code application/json}
     */
    String contentType();

    /**
     * Counts the effects that the operation has had so far, from the place where they are kept.
     *
     * @return the number
     */
    long effects();
}
