package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.FaultInjectingDataSource;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of bad input in the module's README: each of its rows is run, and says what is expected. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadInputIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final Pattern ROW =
            Pattern.compile("\\| (.+) \\| (.+) \\| (nothing|effect and answer) \\| (–|runs|gets the answer) \\|");
    private static final Pattern PROBLEM = Pattern.compile("(\\d{3}) `([a-z_]+)`.*");
    private static final String TOO_LARGE = "x".repeat((int) TestLimits.REQUEST.total() + 1);

    private final RawHttp http = new RawHttp(DEADLINE);
    private final Map<String, Sender> senders = senders();
    private OrdersService service;

    /** Sends the bad input; without an answer where the client cannot have one. */
    private interface Sender {
        Optional<HttpAnswer> send(Request request) throws Exception;
    }

    /** A row of the table. */
    record Row(String input, String answer, String left, String repeat) {
        @Override
        public String toString() {
            return input;
        }
    }

    /** One test's operation: its own path, its own key. */
    private final class Request {
        private final String name = "bad-" + UUID.randomUUID();
        private final String key = UUID.randomUUID().toString();
        private final AtomicInteger runs = new AtomicInteger();
        private Runnable inTheHandler = () -> {};

        HttpAnswer with(String... headerLines) throws IOException {
            return http.send("POST", service.uri(name), List.of(headerLines), "{}");
        }

        HttpAnswer good() throws IOException {
            return with("Idempotency-Key: " + key);
        }

        HttpAnswer body(String type, String body) throws IOException {
            return http.send(
                    "POST", service.uri(name), List.of("Idempotency-Key: " + key, "Content-Type: " + type), body);
        }

        FaultInjectingDataSource faults() {
            return service.database().faults();
        }
    }

    @BeforeAll
    void start() throws Exception {
        service = new OrdersService(
                TestDatabase.h2(),
                JettyServer::new,
                Protection.TRANSACTIONAL,
                options -> {},
                UnaryOperator.identity(),
                Map.of());
    }

    @AfterAll
    void stop() throws Exception {
        service.close();
    }

    private Map<String, Sender> senders() {
        Map<String, Sender> all = new LinkedHashMap<>();
        all.put("no key where one is required", request -> Optional.of(request.with("Accept: */*")));
        all.put("an empty key", withKey(""));
        all.put("a key of blanks", withKey("   "));
        all.put("two header lines", request -> Optional.of(request.with("Idempotency-Key: a", "Idempotency-Key: b")));
        all.put("a list of two keys", withKey("\"a\", \"b\""));
        all.put("a quoted key without its end", withKey("\"abc"));
        all.put("a key of 256 bytes", withKey("k".repeat(256)));
        all.put("a key with a control character", withKey("\"a\tb\""));
        all.put("a key with a letter beyond ASCII", withKey("\"caf\u00e9\""));
        all.put("a body over the limit", request -> Optional.of(request.body("application/json", TOO_LARGE)));
        all.put(
                "a body over the limit, in chunks",
                request -> Optional.of(http.sendChunked(
                        "POST",
                        service.uri(request.name),
                        List.of("Idempotency-Key: " + request.key),
                        List.of(TOO_LARGE))));
        all.put("a body that ends before its announced end", this::truncated);
        all.put(
                "a multipart body that is none",
                request -> Optional.of(request.body("multipart/form-data; boundary=b", "no boundary in it")));
        all.put("another body under a key that is completed", request -> {
            request.good();
            return Optional.of(request.body("application/json", "{\"other\":1}"));
        });
        all.put("another path under a key that is completed", request -> {
            request.good();
            service.on("elsewhere", (servletRequest, response) -> response.setStatus(204));
            List<String> lines = List.of("Idempotency-Key: " + request.key);
            assertThat(http.send("POST", service.uri("elsewhere"), lines, "{}").status())
                    .isEqualTo(204);
            return Optional.empty();
        });
        all.put("the client goes away before its answer", request -> {
            List<String> lines = List.of("Idempotency-Key: " + request.key);
            http.sendAndLeave("POST", service.uri(request.name), lines, "{}");
            Awaitility.await().atMost(DEADLINE).until(() -> service.effects(request.name) == 1);
            return Optional.empty();
        });
        all.put("the handler throws", request -> {
            request.inTheHandler = () -> {
                throw new IllegalStateException("asked for by the test");
            };
            return Optional.of(request.good());
        });
        all.put("the store is down at the claim", request -> {
            request.faults().inject(JdbcPoint.BEFORE_EXECUTE, BadInputIT::isOfTheStore, 1, Fault.cut());
            return Optional.of(request.good());
        });
        all.put("the store is down at the completion", request -> {
            request.inTheHandler =
                    () -> request.faults().inject(JdbcPoint.BEFORE_EXECUTE, BadInputIT::isOfTheStore, 1, Fault.cut());
            return Optional.of(request.good());
        });
        all.put("the commit never arrives", request -> {
            request.faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
            return Optional.of(request.good());
        });
        all.put("the answer to the commit is lost", request -> {
            request.faults().inject(JdbcPoint.AFTER_COMMIT, Fault.cut());
            HttpAnswer answer = request.good();
            assertThat(answer.status()).isEqualTo(201);
            return Optional.of(answer);
        });
        all.put("the answer to the commit is lost, and the look-up fails", request -> {
            Fault lookUpFails = Fault.run(
                    () -> request.faults().inject(JdbcPoint.BEFORE_EXECUTE, BadInputIT::isOfTheStore, 1, Fault.cut()));
            request.faults().inject(JdbcPoint.AFTER_COMMIT, lookUpFails.then(Fault.cut()));
            return Optional.of(request.good());
        });
        return all;
    }

    private static boolean isOfTheStore(String sql) {
        return sql.contains("idempotency_record");
    }

    private static Sender withKey(String value) {
        return request -> Optional.of(request.with("Idempotency-Key: " + value));
    }

    private Optional<HttpAnswer> truncated(Request request) {
        try {
            return Optional.of(http.sendTruncated(
                    "POST", service.uri(request.name), List.of("Idempotency-Key: " + request.key), 100, "half"));
        } catch (IOException closedWithoutAnswer) {
            return Optional.empty();
        }
    }

    static Stream<Row> rows() throws IOException {
        return Files.readAllLines(Path.of("README.md")).stream()
                .map(ROW::matcher)
                .filter(Matcher::matches)
                .map(row -> new Row(row.group(1), row.group(2), row.group(3), row.group(4)));
    }

    @Test
    void table_andTests_nameTheSameRows() throws IOException {
        assertThat(rows().map(Row::input)).containsExactlyElementsOf(senders.keySet());
    }

    @ParameterizedTest
    @MethodSource("rows")
    void badInput_getsWhatTheTableSays(Row row) throws Exception {
        Request request = new Request();
        service.on(request.name, (servletRequest, response) -> {
            service.insert(servletRequest);
            if (request.runs.incrementAndGet() == 1) {
                request.inTheHandler.run();
            }
            response.setStatus(201);
        });

        Optional<HttpAnswer> answer =
                senders.getOrDefault(row.input(), none -> Optional.empty()).send(request);

        answer.ifPresent(got -> assertAnswer(row, got));
        assertThat(service.database().faults().allFaultsStruck()).isTrue();
        int left = row.left().equals("nothing") ? 0 : 1;
        assertThat(service.effects(request.name)).as("effects").isEqualTo(left);
        assertThat(service.records("/scripted/" + request.name)).as("records").isEqualTo(left);
        if (!row.repeat().equals("–")) {
            HttpAnswer repeat = request.good();
            assertThat(repeat.status()).isEqualTo(201);
            assertThat(repeat.header("Idempotent-Replayed").isPresent())
                    .as("the repeat is replayed")
                    .isEqualTo(row.repeat().equals("gets the answer"));
            assertThat(service.effects(request.name)).isEqualTo(1);
        }
    }

    private static void assertAnswer(Row row, HttpAnswer answer) {
        Matcher problem = PROBLEM.matcher(row.answer());
        if (problem.matches()) {
            assertThat(answer.status()).isEqualTo(Integer.parseInt(problem.group(1)));
            assertThat(answer.body()).contains("\"code\":\"" + problem.group(2) + "\"");
        } else if (row.answer().startsWith("500")) {
            assertThat(answer.status()).isEqualTo(500);
        }
    }
}
