package dev.idempotency.benchmarks.jvm;

import dev.idempotency.Fingerprint;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Takes the fingerprint of a request whose body has a kibibyte. */
@State(Scope.Benchmark)
public class Fingerprints {
    private byte[] method = "POST".getBytes(StandardCharsets.UTF_8);
    private byte[] path = "/orders".getBytes(StandardCharsets.UTF_8);
    private byte[] body = "x".repeat(1024).getBytes(StandardCharsets.UTF_8);

    /**
     * The digest of the body alone.
     *
     * @return the digest
     * @throws NoSuchAlgorithmException never
     */
    @Benchmark
    public byte[] byHand() throws NoSuchAlgorithmException {
        return MessageDigest.getInstance("SHA-256").digest(body);
    }

    /**
     * The library's fingerprint of method, path and body.
     *
     * @return the fingerprint
     */
    @Benchmark
    public Fingerprint fingerprint() {
        return Fingerprint.sha256("bench", method, path, body);
    }
}
