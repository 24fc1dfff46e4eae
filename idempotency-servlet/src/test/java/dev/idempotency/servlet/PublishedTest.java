package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the page gives to be published is what the filter answers. */
class PublishedTest {
    private static final Pattern RESPONSE = Pattern.compile("(?m)^  '(\\d{3})': \\{description: '([^']*)'}$");
    private static final Pattern CODE = Pattern.compile("\\b(?:abandoned|[a-z]+(?:_[a-z]+)+)\\b");

    @Test
    void openApi_hasEveryCodeUnderItsStatus() throws IOException {
        Map<Integer, Set<String>> published = new TreeMap<>();
        Matcher response = RESPONSE.matcher(Files.readString(Path.of("README.md")));
        while (response.find()) {
            Set<String> codes = new TreeSet<>();
            CODE.matcher(response.group(2)).results().forEach(code -> codes.add(code.group()));
            published.put(Integer.valueOf(response.group(1)), codes);
        }
        Map<Integer, Set<String>> answered = Arrays.stream(ProblemCode.values())
                .collect(Collectors.groupingBy(
                        ProblemCode::defaultStatus,
                        TreeMap::new,
                        Collectors.mapping(ProblemCode::text, Collectors.toCollection(TreeSet::new))));
        assertThat(published).isEqualTo(answered);
    }
}
