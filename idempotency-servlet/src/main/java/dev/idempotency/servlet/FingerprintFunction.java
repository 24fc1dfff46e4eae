package dev.idempotency.servlet;

import dev.idempotency.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

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
     * Returns the function that compares nothing.
     *
     * @return the function
     */
    static FingerprintFunction none() {
        return (request, body) -> Fingerprint.none();
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
