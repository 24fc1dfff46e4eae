package dev.idempotency.examples.chain.service;

import java.net.URI;
import java.util.List;

/**
 * What a service of the demo is told when it starts.
 *
 * @param guarded true to run with the library, false to run the naive forms
 * @param jdbcUrl the database
 * @param kafka the broker's address, for {@code bootstrap.servers}
 * @param provider where charges are sent
 */
public record ServiceSettings(boolean guarded, String jdbcUrl, String kafka, URI provider) {

    /**
     * Reads the settings from the command line.
     *
     * @param arguments what {@link #toArguments()} gave
     * @return the settings
     */
    public static ServiceSettings fromArguments(String[] arguments) {
        if (arguments.length != 4) {
            throw new IllegalArgumentException(
                    "A service takes guarded, jdbcUrl, kafka and provider, but got " + arguments.length + " arguments");
        }
        return new ServiceSettings(
                Boolean.parseBoolean(arguments[0]), arguments[1], arguments[2], URI.create(arguments[3]));
    }

    /**
     * Returns the settings as a command line.
     *
     * @return the arguments
     */
    public List<String> toArguments() {
        return List.of(Boolean.toString(guarded), jdbcUrl, kafka, provider.toString());
    }
}
