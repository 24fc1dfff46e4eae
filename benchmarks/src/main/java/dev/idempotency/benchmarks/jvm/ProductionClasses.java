package dev.idempotency.benchmarks.jvm;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.client.IdempotentHttpClient;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.outbox.OutboxRelay;
import dev.idempotency.servlet.IdempotencyFilter;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The class files of the published modules, to see what is compiled into them. */
final class ProductionClasses {
    private static final List<Class<?>> ONE_OF_EACH_MODULE = List.of(
            IdempotencyKey.class,
            JdbiIdempotencyStore.class,
            OutboxRelay.class,
            IdempotentConsumer.class,
            IdempotencyFilter.class,
            IdempotentHttpClient.class);

    private ProductionClasses() {}

    /** How many there are, and how many of them name something of this package. */
    record Mentions(int classes, int mentioning) {}

    /**
     * Looks for a package in the names that the classes refer to.
     *
     * @param packageName the package, with slashes
     */
    static Mentions of(String packageName) throws IOException, URISyntaxException {
        int classes = 0;
        int mentioning = 0;
        for (Class<?> type : ONE_OF_EACH_MODULE) {
            Path place = Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
            List<Boolean> found = Files.isDirectory(place) ? search(place, packageName) : searchJar(place, packageName);
            classes += found.size();
            mentioning += (int) found.stream().filter(mention -> mention).count();
        }
        return new Mentions(classes, mentioning);
    }

    private static List<Boolean> searchJar(Path jar, String packageName) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            return search(files.getPath("/"), packageName);
        }
    }

    private static List<Boolean> search(Path folder, String packageName) throws IOException {
        List<Path> classes;
        try (Stream<Path> files = Files.walk(folder)) {
            classes = files.filter(file -> file.toString().endsWith(".class")).toList();
        }
        if (classes.isEmpty()) {
            throw new IllegalStateException("There are no classes in " + folder);
        }
        List<Boolean> mentions = new ArrayList<>();
        for (Path file : classes) {
            // The names in a class file are ASCII.
            mentions.add(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(packageName));
        }
        return mentions;
    }
}
