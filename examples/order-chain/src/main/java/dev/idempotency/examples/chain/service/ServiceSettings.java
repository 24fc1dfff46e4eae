package dev.idempotency.examples.chain.service;

import dev.idempotency.shutdown.GracefulShutdown;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a service of the demo is told when it starts.
 *
 * @param guarded true to run with the library, false to run the naive forms
 * @param jdbcUrl the database
 * @param kafka the broker's address, for {@code bootstrap.servers}
 * @param provider where charges are sent
 * @param grace how long it may take to end
 * @param clock a file with the seconds that this service's clock is to be wrong by, or null for a right one
 */
public record ServiceSettings(
        boolean guarded,
        String jdbcUrl,
        String kafka,
        URI provider,
        Duration grace,
        @Nullable Path clock) {

    /**
     * Reads the settings from the command line.
     *
     * @param arguments what {@link #toArguments()} gave
     * @return the settings
     */
    public static ServiceSettings fromArguments(String[] arguments) {
        if (arguments.length != 6) {
            throw new IllegalArgumentException(
                    "A service takes guarded, jdbcUrl, kafka, provider, grace and clock, but got " + arguments.length
                            + " arguments");
        }
        return new ServiceSettings(
                Boolean.parseBoolean(arguments[0]),
                arguments[1],
                arguments[2],
                URI.create(arguments[3]),
                Duration.parse(arguments[4]),
                arguments[5].isEmpty() ? null : Path.of(arguments[5]));
    }

    /**
     * Returns the settings as a command line.
     *
     * @return the arguments
     */
    public List<String> toArguments() {
        return List.of(
                Boolean.toString(guarded),
                jdbcUrl,
                kafka,
                provider.toString(),
                grace.toString(),
                clock == null ? "" : clock.toString());
    }

    /** The exit status of a service that was halted because it did not end in time. */
    public static final int HALTED = 70;

    /**
     * Returns the shutdown of a service with these settings.
     *
     * @return a new one, with a fifth of the time for closing
     */
    public GracefulShutdown newShutdown() {
        return GracefulShutdown.builder()
                .grace(grace)
                .closeReserve(grace.dividedBy(5))
                .forcedExitStatus(HALTED)
                .build();
    }

    /**
     * Returns the wall clock for those parts of the library that take one.
     *
     * @return the system's, wrong by what the file says
     */
    public InstantSource wallClock() {
        Path wrong = clock;
        return wrong == null
                ? InstantSource.system()
                : () -> InstantSource.system().instant().plusSeconds(seconds(wrong));
    }

    private static long seconds(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException e) {
            throw new UncheckedIOException("The clock cannot be read", e);
        }
    }
}
