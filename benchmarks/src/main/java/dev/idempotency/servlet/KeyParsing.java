package dev.idempotency.servlet;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.NullMarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Reads the key from its header; in this package, because the parser is nobody else's business. */
@NullMarked
@State(Scope.Benchmark)
public class KeyParsing {
    private String uuid = "0190a3f2-7c1e-7d3a-8a57-0c5b5d3f1f10";
    private List<String> quoted = List.of("\"" + uuid + "\"");
    private List<String> plain = List.of(uuid);

    /**
     * What an application would do that takes UUIDs only.
     *
     * @return the key
     */
    @Benchmark
    public UUID byHand() {
        return UUID.fromString(uuid);
    }

    /**
     * Reads a structured-field string.
     *
     * @return what was read
     */
    @Benchmark
    public Object quotedKey() {
        return KeyHeader.parse(quoted, KeySyntax.STRICT);
    }

    /**
     * Reads a bare value.
     *
     * @return what was read
     */
    @Benchmark
    public Object plainKey() {
        return KeyHeader.parse(plain, KeySyntax.LENIENT);
    }
}
