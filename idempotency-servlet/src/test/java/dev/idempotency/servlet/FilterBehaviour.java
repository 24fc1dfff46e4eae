package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a request under either protection, beside what any service with keys must do; the suites above hold the rest. */
abstract class FilterBehaviour extends AnswerBehaviour {
    @Test
    void storeDownAtClaim_is503AndNothingRuns() throws Exception {
        AtomicInteger runs = onOrder("store-down", (request, response) -> response.setStatus(201));
        String key = newKey();
        orders().database()
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
        http().sendAndLeave(
                        "POST",
                        orders().uri("gone"),
                        List.of("Idempotency-Key: \"" + key + "\"", "Content-Type: application/json"),
                        "{}");
        gate.awaitReached(DEADLINE);
        gate.open();
        HttpAnswer repeat = awaitDone(() -> post("gone", key));
        assertThat(repeat.status()).isEqualTo(200);
        assertThat(repeat.body()).hasSize(50_000);
        assertThat(runs.get()).isEqualTo(1);
    }
}
