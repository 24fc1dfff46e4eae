package dev.idempotency.testkit.http;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
     * Returns a body that the operation refuses for good with a 4xx, without an effect.
     *
     * @return the body; null (the default) if there is none, and the tests about refusals are skipped
     */
    default @Nullable String refusedBody() {
        return null;
    }

    /**
     * Returns the header lines by which another caller says who it is.
     *
     * @return for instance {@code Authorization: Bearer …}; empty (the default) if the service tells no callers apart, and
     *     the test about them is skipped
     */
    default List<String> otherCaller() {
        return List.of();
    }

    /**
     * Counts the effects that the operation has had so far, from the place where they are kept.
     *
     * @return the number
     */
    long effects();
}
