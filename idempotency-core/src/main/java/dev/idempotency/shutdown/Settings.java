package dev.idempotency.shutdown;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;

/** What the builder has collected: the options, and the ways to the outside world that tests replace. */
record Settings(
        Duration grace,
        Duration closeReserve,
        Duration lameDuck,
        int forcedExitStatus,
        TimeSource time,
        Logger logger,
        IntConsumer halt,
        Consumer<String> lastWords) {}
