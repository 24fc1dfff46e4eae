package dev.idempotency.examples.chain;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The one folder in which the demo keeps everything, gone when it ends: also when it is killed.
 *
 * <p>A shell of its own waits for the end of its standard input, which is the end of the driver, stops the database if
 * it still runs, and deletes the folder.
 */
final class WorkFolder implements AutoCloseable {
    /** Where the database keeps its data; its first line of postmaster.pid is the server's process id. */
    private static final String DATABASE = "database";

    private static final String JANITOR = """
            trap '' HUP INT TERM
            cat > /dev/null
            if [ -f "$1/%s/postmaster.pid" ]; then kill -QUIT "$(head -n 1 "$1/%s/postmaster.pid")"; fi
            for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" && [ ! -e "$1" ] && exit; sleep 0.2; done
            """.formatted(DATABASE, DATABASE);

    private final Path path;
    private final Process janitor;

    private WorkFolder(Path path, Process janitor) {
        this.path = path;
        this.janitor = janitor;
    }

    static WorkFolder create() throws IOException {
        Path path = Files.createTempDirectory("order-chain-");
        Process janitor = new ProcessBuilder("sh", "-c", JANITOR, "janitor", path.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return new WorkFolder(path, janitor);
    }

    Path path() {
        return path;
    }

    /** Where the child processes put their temporary files: native libraries, mostly. */
    Path temporary() throws IOException {
        return Files.createDirectories(path.resolve("temporary"));
    }

    Path database() {
        return path.resolve(DATABASE);
    }

    Path databaseBinaries() {
        return path.resolve("database-binaries");
    }

    Path broker() {
        return path.resolve("broker");
    }

    /** Deletes the folder; the janitor does the rest if something is still being written. */
    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(WorkFolder::delete);
        } catch (IOException | UncheckedIOException e) {
            // The janitor tries again.
        }
        try {
            janitor.getOutputStream().close();
            janitor.onExit().join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
