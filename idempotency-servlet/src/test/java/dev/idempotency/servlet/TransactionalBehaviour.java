package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Protection;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter does under TRANSACTIONAL: nothing is seen that is not committed. */
abstract class TransactionalBehaviour extends FilterBehaviour {
    @Override
    Protection protection() {
        return Protection.TRANSACTIONAL;
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503, 504})
    void failure_rollsBackAndFreesTheKey(int status) throws Exception {
        AtomicInteger runs = onOrder("failing", (request, response) -> {
            response.setStatus(status);
            response.getWriter().print("failed");
        });
        String key = newKey();
        long before = orders().effects("failing");
        HttpAnswer first = post("failing", key);
        assertThat(first.status()).isEqualTo(status);
        assertThat(first.body()).isEqualTo("failed");
        assertThat(post("failing", key).header("Idempotent-Replayed")).isEmpty();
        assertThat(runs.get()).isEqualTo(2);
        assertThat(orders().effects("failing")).isEqualTo(before);
    }

    @Test
    void exception_rollsBackAndFreesTheKey() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        onOrder("throwing", (request, response) -> {
            response.setStatus(201);
            response.getWriter().print("never seen");
            response.flushBuffer();
            if (runs.incrementAndGet() == 1) {
                throw new IllegalStateException("asked for by the test");
            }
        });
        String key = newKey();
        HttpAnswer first = post("throwing", key);
        assertThat(first.status()).isEqualTo(500);
        assertThat(first.body()).doesNotContain("never seen");
        assertThat(orders().effects("throwing")).isZero();
        assertThat(post("throwing", key).status()).isEqualTo(201);
        assertThat(orders().effects("throwing")).isEqualTo(1);
    }

    @Test
    void error_rollsBackAndFreesTheKey() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        onOrder("dying", (request, response) -> {
            response.setStatus(201);
            if (runs.incrementAndGet() == 1) {
                throw new AssertionError("asked for by the test");
            }
        });
        String key = newKey();
        assertThat(post("dying", key).status()).isEqualTo(500);
        assertThat(orders().effects("dying")).isZero();
        assertThat(post("dying", key).status()).isEqualTo(201);
    }

    @Test
    void refusal_rollsTheWorkBackAndKeepsTheAnswerAlone() throws Exception {
        onOrder("refusing", (request, response) -> response.setStatus(409));
        String key = newKey();
        long before = orders().records();
        post("refusing", key);
        assertThat(orders().effects("refusing")).isZero();
        assertThat(orders().records()).isEqualTo(before + 1);
    }

    @Test
    void refusal_thatMayPass_leavesNothing() throws Exception {
        onOrder("refusing-for-now", (request, response) -> response.setStatus(429));
        long before = orders().records();
        post("refusing-for-now", newKey());
        assertThat(orders().effects("refusing-for-now")).isZero();
        assertThat(orders().records()).isEqualTo(before);
    }

    @Test
    void refusal_commitsWhereTheHandlerSaysSo() throws Exception {
        onOrder("refusing-with-effect", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().commitAndKeep();
            response.setStatus(409);
        });
        post("refusing-with-effect", newKey());
        assertThat(orders().effects("refusing-with-effect")).isEqualTo(1);
    }

    @Test
    void refusal_whoseRecordingFails_isNotShown() throws Exception {
        AtomicInteger runs = onOrder("refusal-unrecorded", (request, response) -> response.setStatus(409));
        String key = newKey();
        orders().database().faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        HttpAnswer answer = post("refusal-unrecorded", key);
        assertThat(answer.status()).isEqualTo(503);
        // The server may still be ending the cut transaction, and its lock with it.
        assertThat(awaitDone(() -> post("refusal-unrecorded", key)).status()).isEqualTo(409);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void storeDownAtCompletion_is503AndNothingIsLeft() throws Exception {
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
        assertProblem(post("completion", key), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects("completion")).isZero();
        // The server may still be ending the cut transaction, and its lock with it.
        assertThat(awaitDone(() -> post("completion", key)).status()).isEqualTo(201);
        assertThat(orders().effects("completion")).isEqualTo(1);
    }

    @Test
    void commitRefusedByADeferredConstraint_isNotShownAsSuccess() throws Exception {
        assumeTrue(orders().database().isPostgreSql(), "H2 has no deferred constraints");
        orders().execute("CREATE TABLE IF NOT EXISTS deferred (id int PRIMARY KEY, parent int"
                + " REFERENCES deferred (id) DEFERRABLE INITIALLY DEFERRED)");
        AtomicInteger runs = new AtomicInteger();
        onOrder("deferred", (request, response) -> {
            int parent = runs.incrementAndGet() == 1 ? 7 : 1;
            run("INSERT INTO deferred VALUES (1, " + parent + ")");
            response.setStatus(201);
        });
        String key = newKey();
        assertProblem(post("deferred", key), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects("deferred")).isZero();
        assertThat(post("deferred", key).status()).isEqualTo(201);
        assertThat(orders().effects("deferred")).isEqualTo(1);
    }

    @Test
    void commitRefusedForSerialization_isNotShownAsSuccess() throws Exception {
        assumeTrue(orders().database().isPostgreSql(), "H2 has no serializable snapshots");
        AtomicInteger runs = new AtomicInteger();
        onOrder("serialization", (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                // A serialization failure that the handler swallows.
                try {
                    run("DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$");
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).isEqualTo("40001");
                }
            }
            response.setStatus(201);
        });
        String key = newKey();
        assertProblem(post("serialization", key), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects("serialization")).isZero();
        assertThat(post("serialization", key).status()).isEqualTo(201);
    }

    @Test
    void backendTerminated_isNotShownAsSuccess() throws Exception {
        assumeTrue(orders().database().isPostgreSql(), "H2 has no backends");
        AtomicInteger runs = new AtomicInteger();
        onOrder("terminated", (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                try {
                    run("SELECT pg_terminate_backend(pg_backend_pid())");
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).startsWith("57");
                }
            }
            response.setStatus(201);
        });
        String key = newKey();
        assertProblem(post("terminated", key), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects("terminated")).isZero();
        // The server may still be ending the cut transaction, and its lock with it.
        assertThat(awaitDone(() -> post("terminated", key)).status()).isEqualTo(201);
        assertThat(orders().effects("terminated")).isEqualTo(1);
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = orders().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void commitThatNeverArrived_isNotShownAsSuccess() throws Exception {
        onOrder("commit-lost", (request, response) -> response.setStatus(201));
        String key = newKey();
        orders().database().faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        HttpAnswer first = post("commit-lost", key);
        assertThat(first.status()).isEqualTo(503);
        assertThat(first.body()).contains("\"retryable\":true");
        assertThat(awaitDone(() -> post("commit-lost", key)).status()).isEqualTo(201);
        assertThat(orders().effects("commit-lost")).isEqualTo(1);
    }

    @Test
    void commitWhoseAnswerIsLost_isResolvedByTheRecord() throws Exception {
        AtomicInteger runs = onOrder("commit-unknown", (request, response) -> {
            response.setStatus(201);
            response.getWriter().print("done");
        });
        String key = newKey();
        orders().database().faults().inject(JdbcPoint.AFTER_COMMIT, Fault.cut());
        HttpAnswer first = post("commit-unknown", key);
        assertThat(first.status()).isEqualTo(201);
        assertThat(first.body()).isEqualTo("done");
        assertThat(orders().effects("commit-unknown")).isEqualTo(1);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void commitThatStaysUnknown_is503AndTheRepeatFindsOut() throws Exception {
        AtomicInteger runs = onOrder("commit-unresolved", (request, response) -> response.setStatus(201));
        String key = newKey();
        orders().database()
                .faults()
                .inject(
                        JdbcPoint.AFTER_COMMIT,
                        Fault.run(() -> orders().database()
                                        .faults()
                                        .inject(
                                                JdbcPoint.BEFORE_EXECUTE,
                                                sql -> sql.contains("idempotency_record"),
                                                1,
                                                Fault.cut()))
                                .then(Fault.cut()));
        assertProblem(post("commit-unresolved", key), ProblemCode.OUTCOME_UNKNOWN);
        HttpAnswer repeat = awaitDone(() -> post("commit-unresolved", key));
        assertThat(repeat.status()).isEqualTo(201);
        assertThat(repeat.header("Idempotent-Replayed")).contains("true");
        assertThat(runs.get()).isEqualTo(1);
        assertThat(orders().effects("commit-unresolved")).isEqualTo(1);
    }

    @Test
    void swallowedFailureInTheTransaction_isNotShownAsSuccessAndFreesTheKey() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        onOrder("swallowed", (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                try {
                    run("SELECT 1 FROM no_such_table");
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).isNotNull();
                }
            }
            response.setStatus(201);
        });
        String key = newKey();
        HttpAnswer first = post("swallowed", key);
        if (orders().database().isPostgreSql()) {
            // The server has aborted the transaction, and all of it is rolled back.
            assertProblem(first, ProblemCode.NOT_COMMITTED);
            assertThat(orders().effects("swallowed")).isZero();
        } else {
            // H2 undoes the statement alone and commits the rest.
            assertThat(first.status()).isEqualTo(201);
        }
        assertThat(post("swallowed", key).status()).isEqualTo(201);
        assertThat(orders().effects("swallowed")).isEqualTo(1);
    }

    /** Committed by hand, the effect would stand without its record, and the repeat would have it again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void commitByAStatementOfTheHandler_isRefusedAndFreesTheKey(boolean swallowed) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        String name = "ended-by-hand-" + swallowed;
        onOrder(name, (request, response) -> {
            if (runs.incrementAndGet() == 1) {
                try {
                    run("COMMIT");
                } catch (SQLException e) {
                    if (!swallowed) {
                        throw e;
                    }
                }
            }
            response.setStatus(201);
        });
        String key = newKey();
        HttpAnswer first = post(name, key);
        if (swallowed) {
            assertProblem(first, ProblemCode.NOT_COMMITTED);
        } else {
            assertThat(first.status()).isEqualTo(500);
        }
        assertThat(orders().effects(name)).isZero();
        assertThat(post(name, key).status()).isEqualTo(201);
        assertThat(orders().effects(name)).isEqualTo(1);
    }

    /** Thrown and not swallowed: it is no failure of the handler, so the client is told to come back. */
    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01"})
    void conflictThrownByTheHandler_is503AndFreesTheKey(String state) throws Exception {
        String name = "conflict-" + state;
        AtomicInteger runs = onOrder(name, (request, response) -> response.setStatus(201));
        orders().database()
                .faults()
                .inject(JdbcPoint.AFTER_EXECUTE, sql -> sql.startsWith("INSERT INTO orders"), 1, Fault.error(state));
        String key = newKey();
        assertProblem(post(name, key), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects(name)).isZero();
        assertThat(post(name, key).status()).isEqualTo(201);
        assertThat(orders().effects(name)).isEqualTo(1);
        assertThat(runs.get()).isEqualTo(2);
    }

    @Test
    void deadlockOfTwoRequests_endsIn201And503_andTheRepeatIn201() throws Exception {
        orders().execute("CREATE TABLE IF NOT EXISTS account (id int PRIMARY KEY, balance int)");
        orders().execute("DELETE FROM account");
        orders().execute("INSERT INTO account VALUES (1, 0), (2, 0)");
        CyclicBarrier bothHaveOne = new CyclicBarrier(2);
        AtomicInteger runs = new AtomicInteger();
        for (int first = 1; first <= 2; first++) {
            int mine = first;
            onOrder("deadlock-" + mine, (request, response) -> {
                run("UPDATE account SET balance = balance + 1 WHERE id = " + mine);
                if (runs.incrementAndGet() <= 2) {
                    bothHaveOne.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
                }
                run("UPDATE account SET balance = balance + 1 WHERE id = " + (3 - mine));
                response.setStatus(201);
            });
        }
        String key = newKey();
        Future<HttpAnswer> other = inBackground(() -> post("deadlock-1", key));
        HttpAnswer one = post("deadlock-2", key);
        HttpAnswer two = result(other);
        assertThat(List.of(one.status(), two.status())).contains(503);
        assertProblem(one.status() == 503 ? one : two, ProblemCode.NOT_COMMITTED);
        assertThat(post("deadlock-1", key).status()).isEqualTo(201);
        assertThat(post("deadlock-2", key).status()).isEqualTo(201);
        assertThat(orders().effects("deadlock-1")).isEqualTo(1);
        assertThat(orders().effects("deadlock-2")).isEqualTo(1);
    }

    @Test
    void headers_beyondTheLimit_rollBackAndFreeTheKey() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        onOrder("large-head", (request, response) -> {
            response.setStatus(201);
            response.setHeader("Location", "/" + "x".repeat(runs.incrementAndGet() == 1 ? 20_000 : 20));
        });
        String key = newKey();
        assertThat(post("large-head", key).status()).isEqualTo(500);
        assertThat(orders().effects("large-head")).isZero();
        assertThat(post("large-head", key).status()).isEqualTo(201);
        assertThat(orders().effects("large-head")).isEqualTo(1);
    }

    @Test
    void cookies_beyondTheLimit_rollBack() throws Exception {
        onOrder("large-cookies", (request, response) -> {
            response.setStatus(201);
            for (int i = 0; i < 10; i++) {
                response.addCookie(new jakarta.servlet.http.Cookie("c" + i, "x".repeat(1_000)));
            }
        });
        assertThat(post("large-cookies", newKey()).status()).isEqualTo(500);
        assertThat(orders().effects("large-cookies")).isZero();
    }

    @Test
    void rollbackOnly_withSuccess_isNotShownAsSuccess() throws Exception {
        onOrder("rollback-only", (request, response) -> {
            IdempotentRequest.of(request)
                    .orElseThrow()
                    .context()
                    .transaction()
                    .orElseThrow()
                    .setRollbackOnly();
            response.setStatus(201);
        });
        assertProblem(post("rollback-only", newKey()), ProblemCode.NOT_COMMITTED);
        assertThat(orders().effects("rollback-only")).isZero();
    }

    @Test
    void answer_beyondTheResponseLimit_rollsBackEvenIfTheHandlerDoesNotNotice() throws Exception {
        onOrder("too-large", (request, response) -> {
            response.setStatus(201);
            for (int i = 0; i < 100; i++) {
                response.getWriter().print("x".repeat(10_000));
            }
        });
        assertThat(post("too-large", newKey()).status()).isEqualTo(500);
        assertThat(orders().effects("too-large")).isZero();
    }

    @Test
    void answer_inAFile_isDeliveredWhole() throws Exception {
        String body = "abcdefgh".repeat(50_000);
        onOrder("spilled", (request, response) -> {
            response.getWriter().print(body);
            response.flushBuffer();
        });
        assertThat(post("spilled", newKey()).body()).isEqualTo(body);
    }

    @Test
    void headers_thatTheContainerRefuses_rollBack() throws Exception {
        onOrder("bad-cookie", (request, response) -> {
            response.setStatus(201);
            response.addCookie(new jakarta.servlet.http.Cookie("a", "b\u0001c"));
        });
        HttpAnswer answer = post("bad-cookie", newKey());
        assertThat(answer.status() == 201 ? 1 : 0).isEqualTo((int) orders().effects("bad-cookie"));
    }

    /** After everything has been set and then taken back, and after a reset: the container's status is 200 by then. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failure_thatAFilterBeforeSwallows_isNotShownAsSuccess(boolean afterReset) throws Exception {
        try (OrdersService swallowing = behind(filter -> new Before(filter, (request, response, next) -> {
            try {
                next.proceed(request);
            } catch (RuntimeException | IOException e) {
                assertThat(e).isNotNull();
            }
        }))) {
            swallowing.on("order", (request, response) -> {
                swallowing.insert(request);
                if (afterReset) {
                    response.reset();
                    response.setHeader("A", "refused by Jetty \u0000");
                    response.addCookie(new jakarta.servlet.http.Cookie("a", "refused by Tomcat \u0001"));
                } else {
                    try (Connection connection = swallowing.dataSource().getConnection();
                            Statement statement = connection.createStatement()) {
                        statement.execute("ROLLBACK");
                    }
                }
                response.setStatus(201);
            });
            HttpAnswer answer = post(swallowing.uri("order"), newKey(), "{}");
            assertThat(swallowing.effects("order")).isEqualTo(answer.status() < 300 ? 1 : 0);
        }
    }

    @Test
    void startAsync_isRefusedAndNamesTheServlet() throws Exception {
        onOrder("async", (request, response) -> {
            assertThat(request.isAsyncSupported()).isFalse();
            try {
                request.startAsync();
            } catch (IllegalStateException e) {
                response.setContentType("text/plain");
                response.getWriter().print(e.getMessage());
            }
        });
        assertThat(post("async", newKey()).body()).contains("ScriptedServlet").contains("LEASED");
    }

    @Test
    void streaming_isRefused() throws Exception {
        onOrder("stream", (request, response) -> IdempotentRequest.of(request).orElseThrow().stream());
        assertThat(post("stream", newKey()).status()).isEqualTo(500);
        assertThat(orders().effects("stream")).isZero();
    }

    @Test
    void context_hasTheTransactionAndDerivesKeys() throws Exception {
        onOrder("context", (request, response) -> {
            var context = IdempotentRequest.of(request).orElseThrow().context();
            assertThat(context.transaction()).isPresent();
            assertThat(context.isLeaseValid()).isTrue();
            response.getWriter().print(context.derive("charge").value());
        });
        assertThat(post("context", newKey()).body()).hasSize(36);
    }
}
