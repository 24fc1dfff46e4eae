package dev.idempotency.examples.chain;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What all scenarios are asked. */
sealed interface Options permits DemoOptions, SoakOptions {
    /** How many clients send at the same time. */
    int clients();

    /** What everything random is drawn from. */
    long seed();

    /** True with the library, false with the naive forms. */
    boolean guarded();

    /** Where to write the page with the timeline, or null for none. */
    @Nullable
    Path report();

    /** What is about to be done, in one line. */
    String words();

    /** How to do it again. */
    String command();

    default String guard() {
        return guarded() ? "on" : "off";
    }
}
