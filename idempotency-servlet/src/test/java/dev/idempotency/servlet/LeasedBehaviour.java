package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletResponse;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter does under LEASED: the claim is seen by others, and a failure leaves a doubt. */
abstract class LeasedBehaviour extends AsyncBehaviour {
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
}
