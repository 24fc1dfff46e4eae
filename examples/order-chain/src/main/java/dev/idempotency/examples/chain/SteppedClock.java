package dev.idempotency.examples.chain;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The wall clock of one service, which the driver moves through a file with the seconds that it is wrong by.
 *
 * <p>If libfaketime is installed, the whole process sees the wrong time. Otherwise those parts of the library do that
 * take a clock; the rest of it uses the database's.
 */
final class SteppedClock {
    /** Where the Debian package {@code faketime} puts it. */
    private static final Path LIBRARY = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1");

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /** How far the clock of a process is wrong when it starts, at most. */
    private static final long FURTHEST_APART = 600;
    /** How far it is ahead at most: a broker refuses records that seem to come from beyond the next hour. */
    private static final long FURTHEST_AHEAD = 3_000;

    private final Path file;
    private final SplittableRandom random;
    private long seconds;

    /**
     * Makes a clock that has to be {@linkplain #draw drawn} before it is read.
     *
     * @param folder where to put the file
     * @param service whose clock it is
     * @param random what its errors at the start of a process are drawn from
     */
    SteppedClock(Path folder, ServiceName service, SplittableRandom random) {
        this.file = folder.resolve("clock-of-" + service.name());
        this.random = random;
    }

    static boolean isOfTheWholeProcess() {
        return Files.isReadable(LIBRARY);
    }

    /** The file, for a process that reads it itself. */
    Path file() {
        return file;
    }

    /** What a process has to find in its environment to see this clock everywhere. */
    Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD", LIBRARY.toString(),
                "FAKETIME_TIMESTAMP_FILE", file.toString(),
                "FAKETIME_CACHE_DURATION", "1",
                // Only the wall clock jumps, in the system as it is: and with the other setting timed waits do not
                // wait.
                "FAKETIME_DONT_FAKE_MONOTONIC", "1",
                "FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }

    /** Sets the clock anew, for the start of a process on another machine, so to speak. */
    synchronized void draw() {
        seconds = random.nextLong(-FURTHEST_APART, FURTHEST_APART + 1);
        write();
    }

    /** Lets the clock jump, and returns by how many seconds: fewer than asked for where it would be too far ahead. */
    synchronized long step(long bySeconds) {
        long before = seconds;
        seconds = Math.min(seconds + bySeconds, FURTHEST_AHEAD);
        write();
        return seconds - before;
    }

    /** In one go, because it is read at any time. */
    private void write() {
        Path whole = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.writeString(whole, String.format("%+d%n", seconds));
            Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException("The clock cannot be set", e);
        }
    }

    /** Removes what libfaketime leaves when its process is killed. */
    static void cleanUpAfter(long pid) {
        try {
            Files.deleteIfExists(SHARED_MEMORY.resolve("faketime_shm_" + pid));
            Files.deleteIfExists(SHARED_MEMORY.resolve("sem.faketime_sem_" + pid));
        } catch (IOException e) {
            System.err.println("Could not clean up in " + SHARED_MEMORY + ": " + e);
        }
    }
}
