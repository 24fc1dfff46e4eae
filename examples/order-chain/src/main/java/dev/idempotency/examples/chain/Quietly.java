package dev.idempotency.examples.chain;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** For a library that writes its diary to standard output, which belongs to the demo's result. */
final class Quietly {
    private Quietly() {}

    static <T> T get(Supplier<T> talkative) {
        PrintStream output = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
        try {
            return talkative.get();
        } finally {
            System.setOut(output);
        }
    }
}
