package dev.idempotency.servlet;

import dev.idempotency.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Tells what a request asks for, so that a key cannot be used for another; users implement it for own rules. */
@FunctionalInterface
public interface FingerprintFunction {
    /**
     * Returns the fingerprint of the request.
     *
     * @param request the request; its body must be read from {@code body} alone
     * @param body the whole body from its beginning
     * @return the fingerprint
     * @throws IOException if the body cannot be read
     * @throws RefusedBodyException if the body is not what the function compares; the client is told so, and nothing is
     *     looked up
     */
    Fingerprint of(HttpServletRequest request, InputStream body) throws IOException;

    /**
     * Returns the default: method, path, query and the body's bytes as they came.
     *
     * @return the function
     */
    static FingerprintFunction rawBytes() {
        return (request, body) -> Fingerprint.sha256(
                "http-raw-1",
                utf8(request.getMethod()),
                utf8(request.getRequestURI()),
                utf8(request.getQueryString() == null ? "" : request.getQueryString()),
                digest(body));
    }

    /**
     * Returns the function that compares what a body of JSON says: method, path, query, and the document without its
     * white space, order of members, escapes and notation of numbers; for JSON nested up to 100 levels and of up to 1 MiB.
     *
     * <p>Bodies of other types are compared by their bytes.
     *
     * @return the function
     * @see #canonicalJson(int, int)
     */
    static FingerprintFunction canonicalJson() {
        return canonicalJson(100, 1024 * 1024);
    }

    /**
     * As {@link #canonicalJson()}, with other bounds.
     *
     * <p>A body is JSON if its type is {@code application/json} or ends in {@code +json}. Numbers are compared exactly, by
     * their value and never as floating point: {@code 1}, {@code 1.0} and {@code 1e0} are one number, {@code 0.1} and
     * {@code 0.10000000000000001} are two. Texts are compared character by character. The order of an array counts.
     *
     * <p>Refused with 400 {@code malformed_body}: what is no JSON (RFC 8259) in UTF-8, an object that names a member twice,
     * deeper nesting, a number of more than 1,000 characters. Refused with 413 {@code body_too_large}: more bytes.
     *
     * <p>Needs {@code com.fasterxml.jackson.core:jackson-core}, an optional dependency of this module.
     *
     * @param maxDepth how many objects and arrays may stand in each other, 1 to 500
     * @param maxBytes the most bytes of a body of JSON, 1 to 64 MiB; the memory for one is up to twenty times that
     * @return the function
     * @throws IllegalArgumentException if a bound is out of its range
     */
    static FingerprintFunction canonicalJson(int maxDepth, int maxBytes) {
        if (maxDepth < 1 || maxDepth > 500) {
            throw new IllegalArgumentException("maxDepth must be between 1 and 500, but is " + maxDepth);
        }
        if (maxBytes < 1 || maxBytes > 64 * 1024 * 1024) {
            throw new IllegalArgumentException("maxBytes must be between 1 and 64 MiB, but is " + maxBytes);
        }
        CanonicalJson json = new CanonicalJson(maxDepth, maxBytes);
        FingerprintFunction others = rawBytes();
        return (request, body) -> isJson(request.getContentType())
                ? Fingerprint.sha256(
                        "http-json-1",
                        utf8(request.getMethod()),
                        utf8(request.getRequestURI()),
                        utf8(request.getQueryString() == null ? "" : request.getQueryString()),
                        json.digest(body))
                : others.of(request, body);
    }

    /**
     * Returns the function that compares nothing.
     *
     * @return the function
     */
    static FingerprintFunction none() {
        return (request, body) -> Fingerprint.none();
    }

    private static boolean isJson(@Nullable String contentType) {
        if (contentType == null) {
            return false;
        }
        int parameters = contentType.indexOf(';');
        String type = (parameters < 0 ? contentType : contentType.substring(0, parameters))
                .strip()
                .toLowerCase(Locale.ROOT);
        return type.equals("application/json") || type.endsWith("+json");
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] digest(InputStream body) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            new DigestInputStream(body, digest).transferTo(java.io.OutputStream.nullOutputStream());
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }
}
