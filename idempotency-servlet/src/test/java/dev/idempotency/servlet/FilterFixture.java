package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.HttpIdempotencyContract;
import dev.idempotency.testkit.http.RawHttp;
import dev.idempotency.testkit.http.ServiceUnderTest;
import jakarta.servlet.Servlet;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** A service with the filter on a real container and a real database, and what its tests need; one for all tests of a class, since
 * to start one costs more than to ask it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FilterFixture extends HttpIdempotencyContract {
    static final Duration DEADLINE = Duration.ofSeconds(60);
    private final RawHttp http = new RawHttp(DEADLINE);
    private final ExecutorService background = Executors.newCachedThreadPool();
    private OrdersService service;

    abstract ServletServer start(List<jakarta.servlet.Filter> filters, Map<String, Servlet> servlets) throws Exception;

    abstract TestDatabase database();

    abstract Protection protection();

    @BeforeAll
    void startService() throws Exception {
        service = new OrdersService(database(), this::start, protection());
    }

    @AfterAll
    void stopService() throws Exception {
        background.shutdownNow();
        service.close();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(service.database().faults().allFaultsStruck())
                .as("every injected fault has struck")
                .isTrue();
        assertThat(service.database().active()).as("connections in use").isZero();
    }

    @Override
    protected ServiceUnderTest service() {
        return service;
    }

    OrdersService orders() {
        return service;
    }

    /** A service of its own for tests that need other options or end it. */
    OrdersService other(Consumer<IdempotencyFilterBuilder> options, Map<String, Servlet> servlets) throws Exception {
        return new OrdersService(database(), this::start, protection(), options, UnaryOperator.identity(), servlets);
    }

    /** A service of its own whose filter stands behind another. */
    OrdersService behind(UnaryOperator<jakarta.servlet.Filter> wrapper) throws Exception {
        return new OrdersService(database(), this::start, protection(), builder -> {}, wrapper, Map.of());
    }

    static String newKey() {
        return UUID.randomUUID().toString();
    }

    HttpAnswer post(String name, String key, String... more) throws IOException {
        return post(service.uri(name), key, "{}", more);
    }

    HttpAnswer post(URI uri, String key, String body, String... more) throws IOException {
        List<String> lines =
                new ArrayList<>(List.of("Idempotency-Key: \"" + key + "\"", "Content-Type: application/json"));
        lines.addAll(Arrays.asList(more));
        return http.send("POST", uri, lines, body);
    }

    HttpAnswer postAs(String type, String name, String key, String body) throws IOException {
        return http.send("POST", service.uri(name), List.of("Idempotency-Key: " + key, "Content-Type: " + type), body);
    }

    RawHttp http() {
        return http;
    }

    <T> Future<T> inBackground(Callable<T> call) {
        return background.submit(call);
    }

    /** For what outlives the request; what it throws shows in what it has not done. */
    void forked(Runnable task) {
        background.execute(task);
    }

    static <T> T result(Future<T> future) throws Exception {
        return future.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Repeats a request until it is no longer in progress. */
    static HttpAnswer awaitDone(Callable<HttpAnswer> repeat) {
        return Awaitility.await()
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .until(repeat, answer -> !answer.body().contains("\"code\":\"in_progress\""));
    }

    static void assertProblem(HttpAnswer answer, ProblemCode code) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(code.defaultStatus());
        assertThat(answer.header("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(answer.body()).contains("\"code\":\"" + code.text() + "\"");
        assertThat(answer.header("Retry-After").isPresent()).isEqualTo(code.retryable());
    }

    static void assertReplayOf(HttpAnswer first, HttpAnswer repeat) {
        assertThat(repeat.status()).as(repeat.body()).isEqualTo(first.status());
        assertThat(repeat.body()).isEqualTo(first.body());
        assertThat(repeat.header("Idempotent-Replayed")).contains("true");
        assertThat(first.header("Idempotent-Replayed")).isEmpty();
    }

    /** Registers a handler that inserts an order and then does the rest; counts its runs. */
    AtomicInteger onOrder(String name, Handler rest) {
        AtomicInteger runs = new AtomicInteger();
        service.on(name, (request, response) -> {
            runs.incrementAndGet();
            service.insert(request);
            rest.handle(request, response);
        });
        return runs;
    }
}
