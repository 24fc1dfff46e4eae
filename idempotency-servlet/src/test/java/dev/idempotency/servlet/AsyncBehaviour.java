package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Asynchronous requests, which only LEASED takes: whichever thread ends them, they are recorded once and answered once. */
abstract class AsyncBehaviour extends FilterBehaviour {
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

    static void print(HttpServletResponse response, String text) {
        try {
            response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
