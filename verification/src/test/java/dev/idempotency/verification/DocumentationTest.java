package dev.idempotency.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages say stands in code that is compiled, and what they point at exists. */
final class DocumentationTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern JAVA_BLOCK =
            Pattern.compile("(?:<!-- compiled in (\\S+) -->\\R)?```java\\R(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)#\\s]+)(?:#[^)]*)?\\)");

    @Test
    void javaBlocks_areLinesOfACompiledFile_inItsOrder() throws IOException {
        List<String> mistakes = new ArrayList<>();
        int blocks = 0;
        for (Path page : pages()) {
            Matcher block = JAVA_BLOCK.matcher(Files.readString(page));
            while (block.find()) {
                blocks++;
                if (block.group(1) == null) {
                    mistakes.add(page + ": a block of Java without <!-- compiled in FILE --> above it");
                } else {
                    firstLineThatIsNotThere(ROOT.resolve(block.group(1)), block.group(2))
                            .forEach(line ->
                                    mistakes.add(page + ": not in " + block.group(1) + " (in this order): " + line));
                }
            }
        }
        assertThat(mistakes).isEmpty();
        assertThat(blocks).as("blocks of Java in all pages").isPositive();
    }

    @Test
    void links_leadToFilesThatExist() throws IOException {
        List<String> mistakes = new ArrayList<>();
        int links = 0;
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                String target = link.group(1);
                if (target.contains(":")) {
                    continue;
                }
                links++;
                if (!Files.exists(page.resolveSibling(target))) {
                    mistakes.add(page + ": " + target);
                }
            }
        }
        assertThat(mistakes).isEmpty();
        assertThat(links).as("links in all pages").isPositive();
    }

    /** The first line of the block that does not follow the ones before it, if there is one. */
    private static List<String> firstLineThatIsNotThere(Path file, String block) throws IOException {
        List<String> source =
                Files.readAllLines(file).stream().map(String::strip).toList();
        int from = 0;
        for (String line :
                block.lines().map(String::strip).filter(text -> !text.isEmpty()).toList()) {
            int found = source.subList(from, source.size()).indexOf(line);
            if (found < 0) {
                return List.of(line);
            }
            from += found + 1;
        }
        return List.of();
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
                    .toList();
        }
    }
}
