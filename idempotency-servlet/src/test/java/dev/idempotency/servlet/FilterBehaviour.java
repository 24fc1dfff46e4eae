package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Idempotent;
import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.HttpIdempotencyContract;
import dev.idempotency.testkit.http.RawHttp;
import dev.idempotency.testkit.http.ServiceUnderTest;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPInputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter does under either protection, beside what any service with keys must do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FilterBehaviour extends HttpIdempotencyContract {
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

    @Test
    void repeat_getsStatusBytesAndKeptHeaders() throws Exception {
        onOrder("headers", (request, response) -> {
            response.setStatus(202);
            response.setHeader("Location", "/orders/1");
            response.setHeader("ETag", "\"1\"");
            response.addHeader("Link", "</a>; rel=a");
            response.addHeader("Link", "</b>; rel=b");
            response.setHeader("X-Trace", "1");
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().print("h\u00e9llo \u20ac");
        });
        String key = newKey();
        HttpAnswer first = post("headers", key);
        HttpAnswer repeat = post("headers", key);
        assertThat(first.status()).isEqualTo(202);
        assertThat(first.body()).isEqualTo("h\u00e9llo \u20ac");
        assertThat(first.header("X-Trace")).contains("1");
        assertReplayOf(first, repeat);
        assertThat(repeat.headers().get("link")).isEqualTo(List.of("</a>; rel=a", "</b>; rel=b"));
        assertThat(repeat.header("Location")).contains("/orders/1");
        assertThat(repeat.header("ETag")).contains("\"1\"");
        assertThat(repeat.header("Content-Type")).isEqualTo(first.header("Content-Type"));
        assertThat(repeat.header("X-Trace")).isEmpty();
        assertThat(repeat.header("Cache-Control")).contains("no-store");
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 304})
    void repeat_ofAnswerWithoutBody_hasNone(int status) throws Exception {
        onOrder("empty", (request, response) -> {
            response.setHeader("ETag", "\"1\"");
            response.setStatus(status);
        });
        String key = newKey();
        HttpAnswer first = post("empty", key);
        assertThat(first.status()).isEqualTo(status);
        assertReplayOf(first, post("empty", key));
    }

    @Test
    void repeat_ofBinaryAnswer_isEqualByteByByte() throws Exception {
        onOrder("binary", (request, response) -> {
            response.setContentType("application/octet-stream");
            for (int i = 0; i < 256; i++) {
                response.getOutputStream().write(i < 128 ? i : i & 0x7f);
            }
        });
        String key = newKey();
        HttpAnswer first = post("binary", key);
        assertThat(first.body()).hasSize(256);
        assertReplayOf(first, post("binary", key));
    }

    @Test
    void keys_ofOtherCallersAndNobody_areOtherOperations() throws Exception {
        AtomicInteger runs = onOrder(
                "scoped",
                (request, response) -> response.getWriter().print(String.valueOf(request.getUserPrincipal() == null)));
        String key = newKey();
        post("scoped", key, "X-User: anne");
        post("scoped", key, "X-User: bert");
        post("scoped", key, "X-User: anonymous");
        post("scoped", key);
        assertThat(runs.get()).isEqualTo(4);
        assertThat(post("scoped", key, "X-User: anne").header("Idempotent-Replayed"))
                .contains("true");
        assertThat(runs.get()).isEqualTo(4);
    }

    @Test
    void keys_onOtherPaths_areOtherOperations() throws Exception {
        AtomicInteger one = onOrder("path-one", (request, response) -> response.setStatus(200));
        AtomicInteger two = onOrder("path-two", (request, response) -> response.setStatus(200));
        String key = newKey();
        post("path-one", key);
        post("path-two", key);
        assertThat(List.of(one.get(), two.get())).containsExactly(1, 1);
    }

    @Test
    void query_isPartOfTheFingerprint() throws Exception {
        onOrder("query", (request, response) -> response.setStatus(200));
        String key = newKey();
        post("query?a=1", key);
        assertThat(post("query?a=1", key).status()).isEqualTo(200);
        assertProblem(post("query?a=2", key), ProblemCode.KEY_REUSED);
    }

    @Test
    void get_isPassedOnWithoutAKey() throws Exception {
        service.on("read", (request, response) -> response.getWriter().print("read"));
        HttpAnswer answer = http.send("GET", service.uri("read"), List.of("Idempotency-Key: \"broken"), "");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("read");
    }

    @Test
    void storeDownAtClaim_is503AndNothingRuns() throws Exception {
        AtomicInteger runs = onOrder("store-down", (request, response) -> response.setStatus(201));
        String key = newKey();
        service.database()
                .faults()
                .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
        assertProblem(post("store-down", key), ProblemCode.STORE_UNAVAILABLE);
        assertThat(runs.get()).isZero();
        assertThat(post("store-down", key).status()).isEqualTo(201);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void duplicate_ofRunningRequest_is409WithRetryAfter() throws Exception {
        Gate gate = new Gate();
        AtomicInteger runs = onOrder("running", (request, response) -> {
            gate.pass();
            response.setStatus(201);
        });
        String key = newKey();
        Future<HttpAnswer> first = inBackground(() -> post("running", key));
        gate.awaitReached(DEADLINE);
        HttpAnswer duplicate = post("running", key);
        gate.open();
        assertProblem(duplicate, ProblemCode.IN_PROGRESS);
        assertThat(result(first).status()).isEqualTo(201);
        assertReplayOf(result(first), post("running", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void duplicate_waitsWhereAsked() throws Exception {
        Gate gate = new Gate();
        try (OrdersService waiting = other(builder -> builder.maxWait(Duration.ofMinutes(2)), Map.of())) {
            AtomicInteger runs = new AtomicInteger();
            waiting.on("slow", (request, response) -> {
                runs.incrementAndGet();
                gate.pass();
                response.setStatus(201);
            });
            String key = newKey();
            Future<HttpAnswer> first = inBackground(() -> post(waiting.uri("slow"), key, "{}"));
            gate.awaitReached(DEADLINE);
            Future<HttpAnswer> duplicate = inBackground(() -> post(waiting.uri("slow"), key, "{}"));
            // The duplicate has looked once when a second connection has been handed out and given back.
            long before = waiting.database().faults().roundTrips();
            Awaitility.await()
                    .atMost(DEADLINE)
                    .until(() -> waiting.database().faults().roundTrips() >= before + 2 || duplicate.isDone());
            assertThat(duplicate.isDone()).isFalse();
            gate.open();
            assertReplayOf(result(first), result(duplicate));
            assertThat(runs.get()).isEqualTo(1);
        }
    }

    @Test
    void shuttingDown_is503AndMakesNoRecord() throws Exception {
        try (OrdersService ending = other(builder -> {}, Map.of())) {
            ending.shutdown().shutdown(new dev.idempotency.shutdown.Reason("the test"));
            HttpAnswer answer = post(ending.uri("orders"), newKey(), "{}");
            assertProblem(answer, ProblemCode.SHUTTING_DOWN);
            assertThat(ending.records()).isZero();
            assertThat(ending.effects()).isZero();
        }
    }

    @Test
    void shutdown_waitsUntilTheAnswerIsOut() throws Exception {
        int size = 32 << 20;
        try (OrdersService large = other(builder -> builder.responseLimits(new BufferLimits(1 << 20, size)), Map.of());
                Socket client = new Socket()) {
            large.on("large", (request, response) -> {
                for (int i = 0; i < size; i += 1 << 20) {
                    response.getOutputStream().write(new byte[1 << 20]);
                }
            });
            URI uri = large.uri("large");
            client.setReceiveBufferSize(8192);
            client.setSoTimeout((int) DEADLINE.toMillis());
            client.connect(new InetSocketAddress(InetAddress.getByName(uri.getHost()), uri.getPort()));
            client.getOutputStream()
                    .write(("POST " + uri.getPath() + " HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + newKey()
                                    + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream answer = client.getInputStream();
            // The first byte is here, so everything is committed; most of the rest is not, since nobody has read it.
            assertThat(answer.read()).isEqualTo('H');
            assertThat(large.shutdown().inFlight().active()).isEqualTo(1);
            assertThat(answer.transferTo(OutputStream.nullOutputStream())).isGreaterThan(size);
            Awaitility.await()
                    .atMost(DEADLINE)
                    .until(() -> large.shutdown().inFlight().active() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 404, 409, 410, 412, 422, 451})
    void refusal_thatIsFinal_isKept(int status) throws Exception {
        AtomicInteger runs = onOrder("refused", (request, response) -> {
            response.setStatus(status);
            response.setContentType("text/plain");
            response.getWriter().print("no");
        });
        String key = newKey();
        HttpAnswer first = post("refused", key);
        assertThat(first.status()).isEqualTo(status);
        assertReplayOf(first, post("refused", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 425, 429})
    void refusal_thatMayPass_isNotKept(int status) throws Exception {
        AtomicInteger runs = onOrder("transient", (request, response) -> response.setStatus(status));
        String key = newKey();
        assertThat(post("transient", key).status()).isEqualTo(status);
        assertThat(post("transient", key).status()).isEqualTo(status);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void sendError_isReplayedWithItsStatus() throws Exception {
        AtomicInteger runs = onOrder("send-error", (request, response) -> {
            response.getWriter().print("never seen");
            response.setHeader("Link", "</help>; rel=help");
            response.sendError(404, "no such article");
        });
        String key = newKey();
        HttpAnswer first = post("send-error", key);
        HttpAnswer repeat = post("send-error", key);
        assertThat(first.status()).isEqualTo(404);
        assertThat(first.body()).doesNotContain("never seen");
        assertThat(repeat.status()).isEqualTo(404);
        assertThat(repeat.header("Idempotent-Replayed")).contains("true");
        assertThat(repeat.header("Link")).contains("</help>; rel=help");
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void sendRedirect_isReplayed() throws Exception {
        onOrder("redirect", (request, response) -> {
            response.getWriter().print("never seen");
            response.sendRedirect("/elsewhere");
        });
        String key = newKey();
        HttpAnswer first = post("redirect", key);
        assertThat(first.status()).isEqualTo(302);
        assertThat(first.header("Location").orElse("")).endsWith("/elsewhere");
        assertThat(first.body()).doesNotContain("never seen");
        HttpAnswer repeat = post("redirect", key);
        assertThat(repeat.status()).isEqualTo(302);
        assertThat(repeat.header("Location").orElse("")).endsWith("/elsewhere");
    }

    @Test
    void reset_forgetsWhatWasSetAndWritten() throws Exception {
        onOrder("reset", (request, response) -> {
            response.setStatus(201);
            response.setHeader("Location", "/nowhere");
            response.addCookie(new jakarta.servlet.http.Cookie("a", "b"));
            response.setCharacterEncoding("UTF-16");
            response.getWriter().print("never seen");
            response.flushBuffer();
            response.reset();
            response.setContentType("text/plain;charset=UTF-8");
            response.getOutputStream().write("seen".getBytes(StandardCharsets.UTF_8));
        });
        String key = newKey();
        HttpAnswer first = post("reset", key);
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("seen");
        assertThat(first.header("Location")).isEmpty();
        assertThat(first.header("Set-Cookie")).isEmpty();
        assertReplayOf(first, post("reset", key));
    }

    @Test
    void answer_beyondTheReplayLimit_isDeliveredOnceAndNeverRunAgain() throws Exception {
        String large = "x".repeat(TestLimits.REPLAY + 1);
        AtomicInteger runs =
                onOrder("large", (request, response) -> response.getWriter().print(large));
        String key = newKey();
        assertThat(post("large", key).body()).isEqualTo(large);
        assertProblem(post("large", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
        assertThat(service.effects("large")).isEqualTo(1);
    }

    @Test
    void answer_beyondTheReplayLimit_isGivenByTheApplicationWhereItCan() throws Exception {
        UnavailableAnswer ofTheApplication = (request, response, status) -> {
            if (request.getHeader("X-Unknown") != null) {
                return false;
            }
            response.setStatus(status);
            response.getWriter().print("read again");
            return true;
        };
        try (OrdersService answering = other(builder -> builder.unavailable(ofTheApplication), Map.of())) {
            AtomicInteger runs = new AtomicInteger();
            answering.on("large", (request, response) -> {
                runs.incrementAndGet();
                response.setStatus(202);
                response.getWriter().print("x".repeat(TestLimits.REPLAY + 1));
            });
            String key = newKey();
            assertThat(post(answering.uri("large"), key, "{}").status()).isEqualTo(202);
            HttpAnswer repeat = post(answering.uri("large"), key, "{}");
            assertThat(repeat.status()).isEqualTo(202);
            assertThat(repeat.body()).isEqualTo("read again");
            assertProblem(post(answering.uri("large"), key, "{}", "X-Unknown: 1"), ProblemCode.RESPONSE_UNAVAILABLE);
            assertThat(runs.get()).isEqualTo(1);
        }
    }

    @Test
    void body_beyondTheLimit_is413ByBytesRead() throws Exception {
        AtomicInteger runs = onOrder("upload", (request, response) -> response.setStatus(200));
        String most = "x".repeat((int) TestLimits.REQUEST.total());
        long before = service.records();
        List<String> lines = List.of("Idempotency-Key: " + newKey());
        assertProblem(http.send("POST", service.uri("upload"), lines, most + "x"), ProblemCode.BODY_TOO_LARGE);
        assertProblem(
                http.sendChunked("POST", service.uri("upload"), lines, List.of(most, "x")), ProblemCode.BODY_TOO_LARGE);
        assertThat(service.records()).isEqualTo(before);
        assertThat(runs.get()).isZero();
        assertThat(http.sendChunked("POST", service.uri("upload"), lines, List.of(most))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void body_inMemoryAndInFile_isGivenWhole() throws Exception {
        service.on("echo", (request, response) -> {
            byte[] bytes = request.getInputStream().readAllBytes();
            response.getOutputStream().write(bytes);
        });
        for (int size : new int[] {0, 1, 4095, 4096, 4097, 60_000}) {
            String body = "y".repeat(size);
            String key = newKey();
            HttpAnswer first = post(service.uri("echo"), key, body);
            assertThat(first.body()).isEqualTo(body);
            assertReplayOf(first, post(service.uri("echo"), key, body));
        }
    }

    @Test
    void body_chunkedOrNot_isTheSameRequest() throws Exception {
        AtomicInteger runs = onOrder("chunks", (request, response) -> response.setStatus(200));
        List<String> lines = List.of("Idempotency-Key: " + newKey());
        http.send("POST", service.uri("chunks"), lines, "abcdef");
        assertThat(http.sendChunked("POST", service.uri("chunks"), lines, List.of("ab", "cdef"))
                        .header("Idempotent-Replayed"))
                .contains("true");
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void body_truncated_makesNoRecordAndDoesNotRun() throws Exception {
        AtomicInteger runs = onOrder("truncated", (request, response) -> response.setStatus(200));
        String key = newKey();
        long before = service.records();
        try {
            HttpAnswer answer = http.sendTruncated(
                    "POST", service.uri("truncated"), List.of("Idempotency-Key: " + key), 100, "half");
            assertThat(answer.status()).isEqualTo(400);
        } catch (IOException closedWithoutAnswer) {
            assertThat(closedWithoutAnswer).isNotNull();
        }
        assertThat(runs.get()).isZero();
        assertThat(service.records()).isEqualTo(before);
        assertThat(http.send("POST", service.uri("truncated"), List.of("Idempotency-Key: " + key), "half")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void body_asReader_hasItsCharset() throws Exception {
        service.on("reader", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().print(request.getReader().readLine());
        });
        assertThat(postAs("application/json", "reader", newKey(), "\"\u20ac\"").body())
                .isEqualTo("\"\u20ac\"");
        assertThat(postAs("text/plain;charset=UTF-8", "reader", newKey(), "\u00e9")
                        .body())
                .isEqualTo("\u00e9");
        assertThat(postAs("text/plain", "reader", newKey(), "\u00e9").body()).isEqualTo("\u00c3\u00a9");
    }

    @Test
    void body_asStreamAndReader_isRefused() throws Exception {
        service.on("both", (request, response) -> {
            request.getInputStream();
            try {
                request.getReader();
            } catch (IllegalStateException e) {
                response.getWriter().print("refused");
            }
        });
        assertThat(post("both", newKey()).body()).isEqualTo("refused");
    }

    @Test
    void body_asForm_hasParametersOfQueryAndBody() throws Exception {
        service.on("form", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter()
                    .print(String.join("|", request.getParameterValues("a")) + ";"
                            + request.getParameter("b") + ";" + request.getParameter("c") + ";"
                            + request.getParameterMap().size() + ";" + request.getParameter("d"));
        });
        HttpAnswer answer =
                postAs("application/x-www-form-urlencoded", "form?a=0", newKey(), "a=1&a=2+3&b=%E2%82%AC&c&&=x");
        assertThat(answer.body()).isEqualTo("0|1|2 3;\u20ac;;4;null");
    }

    @Test
    void body_asForm_askedForByAFilterBefore_isComparedAllTheSame() throws Exception {
        try (OrdersService asked = behind(filter -> new Before(filter, (request, response, next) -> {
            request.getParameter("csrf");
            next.proceed(request);
        }))) {
            asked.on("form", (request, response) -> response.getWriter().print(request.getParameter("amount")));
            String key = newKey();
            HttpAnswer first = postForm(asked, key, "amount=1&a=b");
            assertThat(first.body()).isEqualTo("1");
            assertReplayOf(first, postForm(asked, key, "amount=1&a=b"));
            assertProblem(postForm(asked, key, "amount=2&a=b"), ProblemCode.KEY_REUSED);
            assertProblem(postForm(asked, key, "amount=1&a="), ProblemCode.KEY_REUSED);
        }
    }

    private HttpAnswer postForm(OrdersService at, String key, String body) throws IOException {
        List<String> lines = List.of("Idempotency-Key: " + key, "Content-Type: application/x-www-form-urlencoded");
        return http.send("POST", at.uri("form"), lines, body);
    }

    @Test
    void body_thatCannotBeHeld_isNotTheClientsFault() throws Exception {
        try (OrdersService interrupted = behind(filter -> new Before(filter, (request, response, next) -> {
            // An interrupted thread cannot write to a file channel; neither can one whose disk is full. The body is
            // here by
            // then, because the container's own reading would notice the interrupt, too.
            ServletRequest whole = BodyAtHand.of((HttpServletRequest) request);
            Thread.currentThread().interrupt();
            try {
                next.proceed(whole);
            } finally {
                Thread.interrupted();
            }
        }))) {
            HttpAnswer answer = post(interrupted.uri("orders"), newKey(), "x".repeat(100_000));
            assertThat(answer.status()).as(answer.body()).isEqualTo(500);
            assertThat(interrupted.effects()).isZero();
        }
    }

    @Test
    void header_thatAFilterBeforeSets_isReplayedOnce() throws Exception {
        try (OrdersService linked = behind(filter -> new Before(filter, (request, response, next) -> {
            response.addHeader("Link", "</outer>; rel=\"up\"");
            next.proceed(request);
        }))) {
            linked.on("linked", (request, response) -> response.addHeader("Link", "</inner>; rel=\"self\""));
            String key = newKey();
            HttpAnswer first = post(linked.uri("linked"), key, "{}");
            HttpAnswer repeat = post(linked.uri("linked"), key, "{}");
            assertReplayOf(first, repeat);
            assertThat(first.headers().get("link")).containsExactly("</outer>; rel=\"up\"", "</inner>; rel=\"self\"");
            assertThat(repeat.headers().get("link")).isEqualTo(first.headers().get("link"));
        }
    }

    @Test
    void body_asMultipart_isComparedByParts() throws Exception {
        AtomicInteger runs = onOrder("multipart", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            StringBuilder text = new StringBuilder();
            for (Part part : request.getParts()) {
                text.append(part.getName())
                        .append('=')
                        .append(part.getSubmittedFileName())
                        .append('=');
                text.append(new String(part.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .append(';');
            }
            response.getWriter().print(text + request.getParameter("note"));
        });
        String key = newKey();
        HttpAnswer first = multipart("multipart", key, "one", "hello", "file.txt", "content");
        assertThat(first.body()).isEqualTo("note=null=hello;file=file.txt=content;hello");
        assertReplayOf(first, multipart("multipart", key, "two", "hello", "file.txt", "content"));
        assertProblem(multipart("multipart", key, "one", "hello", "file.txt", "other"), ProblemCode.KEY_REUSED);
        assertProblem(multipart("multipart", key, "one", "hello", "other.txt", "content"), ProblemCode.KEY_REUSED);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void body_asMultipart_beyondTheServletsLimitOrOurs_isRefused() throws Exception {
        AtomicInteger runs = onOrder("parts", (request, response) -> response.setStatus(200));
        long before = service.records();
        String beyondOnePart = "x".repeat((int) TestLimits.PART + 1);
        HttpAnswer refused = multipart("parts", newKey(), "one", "hello", "file.txt", beyondOnePart);
        assertThat(refused.status()).isIn(400, 413);
        HttpAnswer broken = postAs("multipart/form-data; boundary=one", "parts", newKey(), "--one\r\nbroken");
        assertThat(broken.status()).isEqualTo(400);
        assertThat(runs.get()).isZero();
        assertThat(service.records()).isEqualTo(before);
    }

    private HttpAnswer multipart(String name, String key, String boundary, String note, String file, String content)
            throws IOException {
        String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n" + note + "\r\n--"
                + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file
                + "\"\r\nContent-Type: text/plain\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n";
        return postAs("multipart/form-data; boundary=" + boundary, name, key, body);
    }

    @ParameterizedTest
    @CsvSource({"COMMIT, 500", "COMMIT, 409", "KEEP, 500", "KEEP, 429", "KEEP, 201"})
    void handler_thatKeepsItsAnswer_isReplayed(String decision, int status) throws Exception {
        AtomicInteger runs = onOrder("decided", (request, response) -> {
            IdempotentRequest handle = IdempotentRequest.of(request).orElseThrow();
            if (decision.equals("COMMIT")) {
                handle.commitAndKeep();
            } else {
                handle.rollBackAndKeep();
            }
            response.setStatus(status);
            response.getWriter().print("decided");
        });
        String key = newKey();
        HttpAnswer first = post("decided", key);
        assertThat(first.status()).isEqualTo(status);
        assertReplayOf(first, post("decided", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 404, 500})
    void handler_thatForgets_runsAgain(int status) throws Exception {
        AtomicInteger runs = onOrder("forgotten", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().rollBackAndForget();
            response.setStatus(status);
        });
        String key = newKey();
        assertThat(post("forgotten", key).status()).isEqualTo(status);
        assertThat(post("forgotten", key).status()).isEqualTo(status);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void clientGone_changesNothing() throws Exception {
        Gate gate = new Gate();
        AtomicInteger runs = onOrder("gone", (request, response) -> {
            gate.pass();
            response.getWriter().print("z".repeat(50_000));
        });
        String key = newKey();
        http.sendAndLeave(
                "POST",
                service.uri("gone"),
                List.of("Idempotency-Key: \"" + key + "\"", "Content-Type: application/json"),
                "{}");
        gate.awaitReached(DEADLINE);
        gate.open();
        HttpAnswer repeat = awaitDone(() -> post("gone", key));
        assertThat(repeat.status()).isEqualTo(200);
        assertThat(repeat.body()).hasSize(50_000);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void headers_justWithinTheLimit_goOutAndAreReplayed() throws Exception {
        String location = "/" + "x".repeat(5_500);
        onOrder("long-head", (request, response) -> {
            response.setStatus(201);
            response.setHeader("Location", location);
        });
        String key = newKey();
        HttpAnswer first = post("long-head", key);
        assertThat(first.status()).isEqualTo(201);
        HttpAnswer repeat = post("long-head", key);
        assertReplayOf(first, repeat);
        assertThat(repeat.header("Location")).isEqualTo(first.header("Location"));
    }

    /** Somebody tells such callers apart, but not the container: in one namespace they would get each other's answers. */
    @ParameterizedTest
    @ValueSource(strings = {"Authorization: Bearer secret", "Cookie: session=secret"})
    void credentialsWithoutAPrincipal_areRefusedUntilTheApplicationSaysWhoseTheyAre(String line) throws Exception {
        AtomicInteger runs = onOrder("own-login", (request, response) -> response.setStatus(201));
        HttpAnswer refused = post("own-login", newKey(), line);
        assertProblem(refused, ProblemCode.SCOPE_UNRESOLVED);
        assertThat(refused.body()).doesNotContain("secret");
        assertThat(runs.get()).isZero();
        assertThat(post("own-login", newKey(), line, "X-User: anne").status()).isEqualTo(201);
        try (OrdersService open = other(builder -> builder.scopes(ScopeResolver.anonymous()), Map.of())) {
            assertThat(post(open.uri("orders"), newKey(), "{}", line).status()).isEqualTo(201);
        }
    }

    @Test
    void path_longerThanAScopeHolds_isAnOperationAsAnyOther() throws Exception {
        String name = "x".repeat(5_000);
        AtomicInteger runs = new AtomicInteger();
        service.on(name, (request, response) -> response.setStatus(200 + runs.incrementAndGet()));
        service.on(name + "y", (request, response) -> response.setStatus(200 + runs.incrementAndGet()));
        String key = newKey();
        HttpAnswer first = post(name, key);
        assertThat(first.status()).isEqualTo(201);
        assertReplayOf(first, post(name, key));
        assertThat(post(name + "y", key).status()).isEqualTo(202);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=%zz", "a=%", "a=1&b=%4", "%0"})
    void body_asBrokenForm_isTheClientsFault(String body) throws Exception {
        AtomicInteger runs = onOrder("broken-form", (request, response) -> request.getParameter("a"));
        assertProblem(
                postAs("application/x-www-form-urlencoded", "broken-form", newKey(), body), ProblemCode.MALFORMED_BODY);
        assertThat(runs.get()).isZero();
    }

    @Test
    void body_asMultipart_thatSaysItIsBeyondOurLimit_isNotGivenToTheContainer() throws Exception {
        AtomicInteger runs = onOrder("large-parts", (request, response) -> response.setStatus(200));
        String content = "x".repeat((int) TestLimits.REQUEST.total());
        assertProblem(
                multipart("large-parts", newKey(), "one", "hello", "file.txt", content), ProblemCode.BODY_TOO_LARGE);
        assertThat(runs.get()).isZero();
    }

    @Test
    void servletWhoseClassCannotBeLoaded_isReadAndNotWritten() throws Exception {
        byte[] template;
        try (InputStream input = Nameless.class.getResourceAsStream("FilterBehaviour$Nameless.class")) {
            template = Objects.requireNonNull(input).readAllBytes();
        }
        // Nobody finds a hidden class by its name.
        Servlet nameless = (Servlet) MethodHandles.lookup()
                .defineHiddenClass(template, true)
                .lookupClass()
                .getDeclaredConstructor()
                .newInstance();
        try (OrdersService hidden = other(builder -> {}, Map.of("/hidden", nameless))) {
            assertThat(http.send("GET", hidden.at("/hidden"), List.of(), "").body())
                    .isEqualTo("read");
            assertThat(post(hidden.at("/hidden"), newKey(), "{}").status()).isEqualTo(500);
        }
    }

    /** Only a template of a class without a name. */
    static class Nameless extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("read");
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("written without protection");
        }
    }

    @Test
    void annotatedServletsOnly_withoutAny_failsTheStart() throws Exception {
        // Tomcat tells the reason to its log alone.
        assertThatThrownBy(() -> other(IdempotencyFilterBuilder::annotatedServletsOnly, Map.of()))
                .isInstanceOf(Exception.class);
    }

    @Test
    void scopeThatCannotBeResolved_isRefused() throws Exception {
        try (OrdersService unresolved = other(
                builder -> builder.scopes((request, operation) -> {
                    throw new IllegalStateException("asked for by the test");
                }),
                Map.of())) {
            assertProblem(post(unresolved.uri("orders"), newKey(), "{}"), ProblemCode.SCOPE_UNRESOLVED);
            assertThat(unresolved.effects()).isZero();
        }
    }

    @Test
    void keyThatIsOptional_isOptional() throws Exception {
        try (OrdersService optional =
                other(builder -> builder.keyRequired(false).syntax(KeySyntax.STRICT), Map.of())) {
            List<String> none = List.of("Content-Type: application/json");
            assertThat(http.send("POST", optional.uri("orders"), none, "{}").status())
                    .isEqualTo(201);
            assertThat(http.send("POST", optional.uri("orders"), none, "{}").status())
                    .isEqualTo(201);
            assertThat(optional.effects()).isEqualTo(2);
            assertProblem(
                    http.send("POST", optional.uri("orders"), List.of("Idempotency-Key: bare"), "{}"),
                    ProblemCode.INVALID_KEY);
            assertThat(optional.effects()).isEqualTo(2);
        }
    }

    @Test
    void bareAndQuoted_areTheSameKey() throws Exception {
        String key = newKey();
        HttpAnswer first = http.send("POST", service.uri("orders"), List.of("Idempotency-Key: " + key), "{}");
        assertReplayOf(
                first, http.send("POST", service.uri("orders"), List.of("Idempotency-Key: \"" + key + "\""), "{}"));
    }

    @Test
    void otherMethods_areProtectedWhereAsked() throws Exception {
        try (OrdersService deleting = other(builder -> builder.methods("DELETE"), Map.of())) {
            AtomicInteger runs = new AtomicInteger();
            deleting.on("delete", (request, response) -> response.setStatus(runs.incrementAndGet() == 1 ? 204 : 404));
            List<String> lines = List.of("Idempotency-Key: " + newKey());
            assertThat(http.send("DELETE", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(204);
            assertThat(http.send("DELETE", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(204);
            assertThat(runs.get()).isEqualTo(1);
            assertThat(http.send("POST", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(404);
        }
    }

    @Test
    void include_isPartOfTheAnswer() throws Exception {
        service.on("included", (request, response) -> {
            response.setStatus(500);
            response.getWriter().print("included");
        });
        AtomicInteger runs = onOrder("including", (request, response) -> {
            response.getWriter().print("<");
            request.getRequestDispatcher("/scripted/included").include(request, response);
            response.getWriter().print(">");
        });
        String key = newKey();
        HttpAnswer first = post("including", key);
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("<included>");
        assertReplayOf(first, post("including", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void forward_isTheAnswer() throws Exception {
        AtomicInteger contextForwards = onOrder("context-forwarding", (request, response) -> {
            response.getWriter().print("never seen");
            request.getServletContext()
                    .getRequestDispatcher("/scripted/forwarded?b=2")
                    .forward(request, response);
        });
        service.on("forwarded", (request, response) -> {
            response.setStatus(201);
            response.getWriter()
                    .print(request.getParameter("a")
                            + request.getParameter("b")
                            + new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                            + IdempotentRequest.of(request).isPresent());
        });
        AtomicInteger runs = onOrder("forwarding", (request, response) -> {
            response.getWriter().print("never seen");
            request.getRequestDispatcher("/scripted/forwarded?b=2").forward(request, response);
        });
        String key = newKey();
        HttpAnswer first = post("forwarding?a=1", key);
        assertThat(first.status()).isEqualTo(201);
        assertThat(first.body()).isEqualTo("12{}true");
        assertReplayOf(first, post("forwarding?a=1", key));
        assertThat(runs.get()).isEqualTo(1);
        assertThat(post("context-forwarding?a=1", newKey()).status()).isEqualTo(201);
        assertThat(contextForwards.get()).isEqualTo(1);
    }

    @Test
    void trailers_goOutWithTheFirstAnswer() throws Exception {
        onOrder("trailers", (request, response) -> {
            response.setHeader("Trailer", "X-Checksum");
            response.setTrailerFields(() -> Map.of("X-Checksum", "17"));
            response.getWriter().print("checked");
        });
        String key = newKey();
        HttpAnswer first = post("trailers", key, "TE: trailers");
        assertThat(first.body()).isEqualTo("checked");
        assertThat(first.header("X-Checksum")).contains("17");
        assertReplayOf(first, post("trailers", key));
    }

    @Test
    void compression_byTheContainer_isAppliedAnewToEachAnswer() throws Exception {
        String text = "compress me ".repeat(500);
        onOrder("compressed", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().print(text);
        });
        String key = newKey();
        HttpAnswer first = post("compressed", key, "Accept-Encoding: gzip");
        assertThat(first.header("Content-Encoding")).contains("gzip");
        assertThat(unzipped(first)).isEqualTo(text);
        HttpAnswer plain = post("compressed", key);
        assertThat(plain.header("Content-Encoding")).isEmpty();
        assertThat(plain.body()).isEqualTo(text);
        HttpAnswer again = post("compressed", key, "Accept-Encoding: gzip");
        assertThat(again.header("Idempotent-Replayed")).contains("true");
        assertThat(unzipped(again)).isEqualTo(text);
    }

    private static String unzipped(HttpAnswer answer) throws IOException {
        try (GZIPInputStream input = new GZIPInputStream(new ByteArrayInputStream(answer.bytes()))) {
            return new String(input.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void annotation_takesThePlaceOfTheFiltersOptions() throws Exception {
        Annotated annotated = new Annotated();
        try (OrdersService service =
                other(builder -> builder.annotatedServletsOnly(), Map.of("/one", annotated, "/two/*", annotated))) {
            String key = newKey();
            HttpAnswer first = post(service.at("/one"), key, "{}");
            assertThat(first.body()).isEqualTo("true 1");
            assertReplayOf(first, post(service.at("/one"), key, "{}"));
            // Both paths are one operation, and its fingerprint still tells them apart.
            assertProblem(post(service.at("/two/x"), key, "{}"), ProblemCode.KEY_REUSED);
            List<String> none = List.of("Content-Type: application/json");
            assertThat(http.send("POST", service.at("/one"), none, "{}").body()).isEqualTo("false 2");
            // doPut asks for a key of its own accord, beside the filter's methods.
            assertThat(http.send("PUT", service.at("/one"), none, "{}").status())
                    .isEqualTo(400);
            assertThat(http.send("POST", service.uri("orders"), none, "{}").status())
                    .isEqualTo(201);
        }
    }

    @Test
    void annotationThatCannotBeKept_failsTheStart() throws Exception {
        // Tomcat tells the reason to its log alone.
        assertThatThrownBy(() -> other(builder -> {}, Map.of("/bad", new BadRetention())))
                .isInstanceOf(Exception.class);
    }

    @Idempotent(retention = "soon")
    private static final class BadRetention extends HttpServlet {}

    @Idempotent(operation = "annotated", protection = Protection.LEASED, keyRequired = false, retention = "PT1H")
    private static final class Annotated extends HttpServlet {
        private final transient AtomicInteger runs = new AtomicInteger();

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            boolean leased = IdempotentRequest.of(request)
                    .filter(handle -> handle.context().transaction().isEmpty())
                    .isPresent();
            response.getWriter().print(leased + " " + runs.incrementAndGet());
        }

        @Override
        @Idempotent
        protected void doPut(HttpServletRequest request, HttpServletResponse response) {
            response.setStatus(204);
        }
    }
}
