package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter does under LEASED: the claim is seen by others, and a failure leaves a doubt. */
abstract class LeasedBehaviour extends FilterBehaviour {
    @Override
    Protection protection() {
        return Protection.LEASED;
    }

    @Test
    void otherPayload_whileTheFirstRuns_is422() throws Exception {
        Gate gate = new Gate();
        onOrder("running-other", (request, response) -> gate.pass());
        String key = newKey();
        Future<HttpAnswer> first = inBackground(() -> post(orders().uri("running-other"), key, "1"));
        gate.awaitReached(DEADLINE);
        HttpAnswer other = post(orders().uri("running-other"), key, "2");
        gate.open();
        assertProblem(other, ProblemCode.KEY_REUSED);
        assertThat(result(first).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503, 504})
    void failure_isKept(int status) throws Exception {
        AtomicInteger runs = onOrder("failing", (request, response) -> {
            response.setStatus(status);
            response.getWriter().print("failed");
        });
        String key = newKey();
        HttpAnswer first = post("failing", key);
        assertThat(first.status()).isEqualTo(status);
        assertReplayOf(first, post("failing", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void failure_withoutEffect_freesTheKey() throws Exception {
        AtomicInteger runs = onOrder("failing-clean", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().context().markNoEffect();
            response.setStatus(503);
        });
        String key = newKey();
        post("failing-clean", key);
        post("failing-clean", key);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void exception_spendsTheKey() throws Exception {
        AtomicInteger runs = onOrder("throwing", (request, response) -> {
            response.setStatus(201);
            throw new IllegalStateException("asked for by the test");
        });
        String key = newKey();
        assertThat(post("throwing", key).status()).isEqualTo(500);
        assertProblem(post("throwing", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void exception_withoutEffect_freesTheKey() throws Exception {
        AtomicInteger runs = onOrder("throwing-clean", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().context().markNoEffect();
            throw new IllegalStateException("asked for by the test");
        });
        String key = newKey();
        assertThat(post("throwing-clean", key).status()).isEqualTo(500);
        assertThat(post("throwing-clean", key).status()).isEqualTo(500);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void storeDownAtCompletion_is503UnknownAndNeverRunsAgain() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        onOrder("completion", (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                orders().database()
                        .faults()
                        .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
            }
            response.setStatus(201);
        });
        String key = newKey();
        assertProblem(post("completion", key), ProblemCode.OUTCOME_UNKNOWN);
        assertProblem(post("completion", key), ProblemCode.IN_PROGRESS);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void complete_onAnotherThread_recordsBeforeTheAnswerGoesOut() throws Exception {
        Gate beforeRecord = new Gate();
        AtomicInteger runs = onOrder("async", (request, response) -> {
            AsyncContext context = request.startAsync();
            assertThat(context.hasOriginalRequestAndResponse()).isTrue();
            assertThat(request.getAsyncContext()).isSameAs(context);
            context.start(() -> {
                HttpServletResponse answer = (HttpServletResponse) context.getResponse();
                answer.setStatus(201);
                print(answer, "done elsewhere");
                orders().database()
                        .faults()
                        .inject(
                                JdbcPoint.BEFORE_EXECUTE,
                                sql -> sql.contains("idempotency_record"),
                                1,
                                Fault.hold(beforeRecord));
                context.complete();
            });
        });
        String key = newKey();
        Future<HttpAnswer> first = inBackground(() -> post("async", key));
        beforeRecord.awaitReached(DEADLINE);
        assertProblem(post("async", key), ProblemCode.IN_PROGRESS);
        assertThat(first.isDone()).isFalse();
        beforeRecord.open();
        assertThat(result(first).status()).isEqualTo(201);
        assertThat(result(first).body()).isEqualTo("done elsewhere");
        assertReplayOf(result(first), post("async", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void complete_beforeTheChainReturns_isAnsweredOnce() throws Exception {
        onOrder("async-early", (request, response) -> {
            AsyncContext context = request.startAsync(request, response);
            assertThat(context.hasOriginalRequestAndResponse()).isFalse();
            print(response, "early");
            context.complete();
        });
        String key = newKey();
        HttpAnswer first = post("async-early", key);
        assertThat(first.body()).isEqualTo("early");
        assertReplayOf(first, post("async-early", key));
    }

    @Test
    void complete_whoseRecordFails_is503AndNeverASuccess() throws Exception {
        AtomicInteger runs = onOrder("async-unrecorded", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.start(() -> {
                ((HttpServletResponse) context.getResponse()).setStatus(201);
                orders().database()
                        .faults()
                        .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
                context.complete();
            });
        });
        String key = newKey();
        assertProblem(post("async-unrecorded", key), ProblemCode.OUTCOME_UNKNOWN);
        assertProblem(post("async-unrecorded", key), ProblemCode.IN_PROGRESS);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void dispatch_toItself_isOneOperation() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        orders().on("async-again", (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                AsyncContext context = request.startAsync();
                context.start(context::dispatch);
            } else {
                response.setStatus(202);
                print(
                        response,
                        "dispatched " + request.getDispatcherType() + " "
                                + IdempotentRequest.of(request).isPresent());
            }
        });
        String key = newKey();
        HttpAnswer first = post("async-again", key);
        assertThat(first.status()).as(first.body()).isEqualTo(202);
        assertThat(first.body()).isEqualTo("dispatched ASYNC true");
        assertReplayOf(first, post("async-again", key));
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void dispatch_toAnotherPathAndAgainAsync_isOneOperation() throws Exception {
        orders().on("async-second", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.start(() -> {
                print((HttpServletResponse) context.getResponse(), "second");
                context.complete();
            });
        });
        AtomicInteger runs = onOrder(
                "async-first", (request, response) -> request.startAsync().dispatch("/scripted/async-second"));
        String key = newKey();
        HttpAnswer first = post("async-first", key);
        assertThat(first.body()).isEqualTo("second");
        assertReplayOf(first, post("async-first", key));
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void dispatch_pastTheFilter_isRecordedAndNeverASuccess() throws Exception {
        try (OrdersService past = behind(RequestsOnly::new)) {
            AtomicInteger runs = new AtomicInteger();
            past.on("past", (request, response) -> {
                if (runs.incrementAndGet() == 1) {
                    request.startAsync().dispatch();
                } else {
                    response.setStatus(201);
                    print(response, "dispatched");
                }
            });
            String key = newKey();
            assertThat(post(past.uri("past"), key, "{}").status()).isEqualTo(503);
            HttpAnswer repeat = awaitDone(() -> post(past.uri("past"), key, "{}"));
            assertThat(repeat.status()).isEqualTo(201);
            assertThat(repeat.body()).isEqualTo("dispatched");
            assertThat(runs.get()).isEqualTo(2);
        }
    }

    /** A filter that somebody forgot to map for asynchronous dispatches. */
    private record RequestsOnly(Filter filter) implements Filter {
        @Override
        public void init(FilterConfig config) throws ServletException {
            filter.init(config);
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                filter.doFilter(request, response, chain);
            } else {
                chain.doFilter(request, response);
            }
        }
    }

    @Test
    void timeout_thatNobodyHandles_leavesTheKeyBusyUntilTheWorkIsDone() throws Exception {
        Gate gate = new Gate();
        AtomicInteger runs = onOrder("async-timeout", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.setTimeout(100);
            forked(() -> {
                gate.pass();
                HttpServletResponse answer = (HttpServletResponse) context.getResponse();
                answer.setStatus(201);
                answer.setContentType("text/plain");
                print(answer, "late");
                context.complete();
            });
        });
        String key = newKey();
        assertThat(post("async-timeout", key).status()).isIn(500, 503);
        assertProblem(post("async-timeout", key), ProblemCode.IN_PROGRESS);
        gate.open();
        HttpAnswer repeat = awaitDone(() -> post("async-timeout", key));
        assertThat(repeat.status()).isEqualTo(201);
        assertThat(repeat.body()).isEqualTo("late");
        assertThat(repeat.header("Idempotent-Replayed")).contains("true");
        assertThat(runs.get()).isEqualTo(1);
    }

    /** The container gives up the connection, and the work neither knows nor stops. */
    @Test
    void clientGoneWhileAsync_leavesTheKeyBusyUntilTheWorkIsDone() throws Exception {
        Errors errors = new Errors();
        try (OrdersService service = behind(filter -> new Listening(filter, errors))) {
            Gate gate = new Gate();
            String key = newKey();
            URI uri = asyncWork(service, gate);
            Future<HttpAnswer> first = inBackground(() -> post(uri, key, "{}"));
            gate.awaitReached(DEADLINE);
            errors.strike(new IOException("the client has gone"));
            assertProblem(post(uri, key, "{}"), ProblemCode.IN_PROGRESS);
            gate.open();
            assertThat(result(first).status()).isEqualTo(201);
            assertReplayOf(result(first), post(uri, key, "{}"));
        }
    }

    @Test
    void workThatBreaksInTheContainersHands_spendsTheKey() throws Exception {
        Errors errors = new Errors();
        try (OrdersService service = behind(filter -> new Listening(filter, errors))) {
            Gate gate = new Gate();
            String key = newKey();
            URI uri = asyncWork(service, gate);
            Future<HttpAnswer> first = inBackground(() -> post(uri, key, "{}"));
            gate.awaitReached(DEADLINE);
            errors.strike(new IllegalStateException("asked for by the test"));
            assertProblem(post(uri, key, "{}"), ProblemCode.RESPONSE_UNAVAILABLE);
            gate.open();
            assertThat(result(first).status()).isPositive();
        }
    }

    private URI asyncWork(OrdersService service, Gate gate) {
        service.on("lost", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.setTimeout(0);
            forked(() -> {
                gate.pass();
                HttpServletResponse answer = (HttpServletResponse) context.getResponse();
                answer.setStatus(201);
                answer.setContentType("text/plain");
                print(answer, "done for nobody");
                context.complete();
            });
        });
        return service.uri("lost");
    }

    /** Tells the listeners of one asynchronous request of an error, as a container does at moments of its own. */
    private static final class Errors {
        private final List<AsyncListener> listeners = new CopyOnWriteArrayList<>();
        private volatile @Nullable AsyncContext context;

        AsyncContext note(AsyncContext started) {
            context = started;
            return (AsyncContext) Proxy.newProxyInstance(
                    Errors.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("addListener")) {
                            listeners.add((AsyncListener) arguments[0]);
                        }
                        return method.invoke(started, arguments);
                    });
        }

        void strike(Throwable error) throws IOException {
            for (AsyncListener listener : listeners) {
                listener.onError(new AsyncEvent(context, error));
            }
        }
    }

    /** A filter before the one under test, through which asynchronous work is started. */
    private record Listening(Filter filter, Errors errors) implements Filter {
        @Override
        public void init(FilterConfig config) throws ServletException {
            filter.init(config);
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            filter.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public AsyncContext startAsync(ServletRequest dispatched, ServletResponse answer) {
                            return errors.note(super.startAsync(dispatched, answer));
                        }
                    },
                    response,
                    chain);
        }
    }

    @Test
    void shutdown_waitsUntilAStreamedAnswerIsOut() throws Exception {
        Gate gate = new Gate();
        onOrder("stream-slowly", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().stream();
            response.getWriter().print("first");
            response.flushBuffer();
            gate.pass();
            response.getWriter().print("last");
        });
        Future<HttpAnswer> answer = inBackground(() -> post("stream-slowly", newKey()));
        gate.awaitReached(DEADLINE);
        assertThat(orders().shutdown().inFlight().active()).isEqualTo(1);
        gate.open();
        assertThat(result(answer).body()).isEqualTo("firstlast");
        Awaitility.await()
                .atMost(DEADLINE)
                .until(() -> orders().shutdown().inFlight().active() == 0);
    }

    @Test
    void headers_beyondTheLimit_areNeverRunAgain() throws Exception {
        AtomicInteger runs =
                onOrder("large-head", (request, response) -> response.setHeader("Location", "/" + "x".repeat(20_000)));
        String key = newKey();
        assertThat(post("large-head", key).status()).isEqualTo(500);
        assertProblem(post("large-head", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void timeout_thatTheApplicationAnswers_isKept() throws Exception {
        onOrder("async-timeout-answered", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.setTimeout(100);
            context.addListener(new AsyncListener() {
                @Override
                public void onTimeout(AsyncEvent event) {
                    HttpServletResponse answer =
                            (HttpServletResponse) event.getAsyncContext().getResponse();
                    answer.setStatus(504);
                    print(answer, "too slow");
                    event.getAsyncContext().complete();
                }

                @Override
                public void onComplete(AsyncEvent event) {}

                @Override
                public void onError(AsyncEvent event) {}

                @Override
                public void onStartAsync(AsyncEvent event) {}
            });
        });
        String key = newKey();
        HttpAnswer first = post("async-timeout-answered", key);
        assertThat(first.status()).isEqualTo(504);
        assertThat(first.body()).isEqualTo("too slow");
        assertReplayOf(first, post("async-timeout-answered", key));
    }

    @Test
    void exception_afterStartAsync_spendsTheKey() throws Exception {
        AtomicInteger runs = onOrder("async-throwing", (request, response) -> {
            request.startAsync();
            throw new IllegalStateException("asked for by the test");
        });
        String key = newKey();
        assertThat(post("async-throwing", key).status()).isEqualTo(500);
        assertProblem(post("async-throwing", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void nonBlockingReadsAndWrites_areServed() throws Exception {
        orders().on("non-blocking", (request, response) -> {
            AsyncContext context = request.startAsync();
            ServletInputStream input = request.getInputStream();
            ServletOutputStream output = response.getOutputStream();
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            input.setReadListener(new ReadListener() {
                @Override
                public void onDataAvailable() throws IOException {
                    byte[] buffer = new byte[1000];
                    while (input.isReady() && !input.isFinished()) {
                        body.write(buffer, 0, Math.max(0, input.read(buffer)));
                    }
                }

                @Override
                public void onAllDataRead() {
                    output.setWriteListener(new WriteListener() {
                        @Override
                        public void onWritePossible() throws IOException {
                            if (output.isReady()) {
                                output.write(body.toByteArray());
                                context.complete();
                            }
                        }

                        @Override
                        public void onError(Throwable failure) {
                            throw new IllegalStateException(failure);
                        }
                    });
                }

                @Override
                public void onError(Throwable failure) {
                    throw new IllegalStateException(failure);
                }
            });
        });
        String key = newKey();
        String body = "0123456789".repeat(1_000);
        HttpAnswer first = post(orders().uri("non-blocking"), key, body);
        assertThat(first.body()).isEqualTo(body);
        assertReplayOf(first, post(orders().uri("non-blocking"), key, body));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stream_leavesAsItIsWrittenAndIsRecordedBefore(boolean asked) throws Exception {
        Gate gate = new Gate();
        AtomicInteger runs = onOrder("stream", (request, response) -> {
            response.setContentType(asked ? "text/plain" : "text/event-stream");
            response.setStatus(202);
            if (asked) {
                IdempotentRequest.of(request).orElseThrow().stream();
            }
            response.getWriter().print("data: 1\n\n");
            response.flushBuffer();
            gate.pass();
            response.getWriter().print("data: 2\n\n");
        });
        String key = newKey();
        HttpResponse<InputStream> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(orders().uri("stream"))
                                .header("Idempotency-Key", key)
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(202);
        try (InputStream body = answer.body()) {
            assertThat(new String(body.readNBytes(9), StandardCharsets.UTF_8)).isEqualTo("data: 1\n\n");
            assertProblem(post("stream", key), ProblemCode.RESPONSE_UNAVAILABLE);
            gate.open();
            assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("data: 2\n\n");
        }
        assertProblem(post("stream", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void stream_inAsynchronousWork_endsWithComplete() throws Exception {
        onOrder("stream-async", (request, response) -> {
            AsyncContext context = request.startAsync();
            context.start(() -> {
                HttpServletResponse answer = (HttpServletResponse) context.getResponse();
                answer.setContentType("text/event-stream");
                print(answer, "data: 1\n\n");
                print(answer, "data: 2\n\n");
                context.complete();
            });
        });
        String key = newKey();
        assertThat(post("stream-async", key).body()).isEqualTo("data: 1\n\ndata: 2\n\n");
        assertProblem(post("stream-async", key), ProblemCode.RESPONSE_UNAVAILABLE);
    }

    @Test
    void stream_thatCannotBeRecorded_sendsNothing() throws Exception {
        AtomicInteger runs = onOrder("stream-unrecorded", (request, response) -> {
            response.setStatus(201);
            orders().database()
                    .faults()
                    .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
            IdempotentRequest.of(request).orElseThrow().stream();
            response.getWriter().print("never seen");
        });
        String key = newKey();
        HttpAnswer first = post("stream-unrecorded", key);
        assertThat(first.status()).isGreaterThanOrEqualTo(500);
        assertThat(first.body()).doesNotContain("never seen");
        assertProblem(post("stream-unrecorded", key), ProblemCode.IN_PROGRESS);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void answer_beyondTheResponseLimit_isStreamedFromThere() throws Exception {
        String part = "0123456789".repeat(1_000);
        AtomicInteger runs = onOrder("too-large", (request, response) -> {
            response.setStatus(201);
            for (int i = 0; i < 100; i++) {
                response.getWriter().print(part);
            }
        });
        String key = newKey();
        HttpAnswer first = post("too-large", key);
        assertThat(first.status()).isEqualTo(201);
        assertThat(first.body()).isEqualTo(part.repeat(100));
        assertProblem(post("too-large", key), ProblemCode.RESPONSE_UNAVAILABLE);
        assertThat(runs.get()).isEqualTo(1);
    }

    private static void print(HttpServletResponse response, String text) {
        try {
            response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
