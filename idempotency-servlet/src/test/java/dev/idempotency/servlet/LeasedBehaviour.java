package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
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
}
