package dev.idempotency.examples.chain.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The process that started this one, as a service sees it. */
public final class Driver {
    private static final String READY = "READY ";

    private Driver() {}

    /**
     * Ends this process when the driver is gone, even if that was killed: its end of our standard input is then closed.
     *
     * <p>Halts, so that no shutdown hook delays the end. A service must be fit to be killed at any instant anyway.
     */
    public static void dieWithIt() {
        Thread watch = new Thread(Driver::haltAtEndOfInput, "driver-watch");
        watch.setDaemon(true);
        watch.start();
    }

    /**
     * Tells the driver that this service is up.
     *
     * @param port where it takes requests; 0 if it takes none
     */
    public static void tellReady(int port) {
        System.out.println(READY + port);
        System.out.flush();
    }

    /**
     * Tells whether a line of a service's output says that it is up.
     *
     * @param line the line
     * @return true if {@link #tellReady} wrote it
     */
    public static boolean isReady(String line) {
        return line.startsWith(READY);
    }

    /**
     * Returns the port named in a line for which {@link #isReady} is true.
     *
     * @param line the line
     * @return the port
     */
    public static int port(String line) {
        return Integer.parseInt(line.substring(READY.length()));
    }

    private static void haltAtEndOfInput() {
        try (InputStream input = System.in) {
            input.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // The same as the end: the pipe is gone.
        }
        Runtime.getRuntime().halt(1);
    }
}
