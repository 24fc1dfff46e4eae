package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.operation.OperationReport;
import dev.idempotency.operation.OutcomeKind;
import dev.idempotency.testkit.fault.Fault;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.fault.JdbcPoint;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What each request leaves in the meters, asked over a socket. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IdempotencyMetersIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final RawHttp http = new RawHttp(DEADLINE);
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final ExecutorService background = Executors.newCachedThreadPool();
    private OrdersService service;
    private OrdersService leased;

    @BeforeAll
    void start() throws Exception {
        IdempotencyMeters meters = IdempotencyMeters.of(registry);
        service = start(Protection.TRANSACTIONAL, meters);
        leased = start(Protection.LEASED, meters);
    }

    private static OrdersService start(Protection protection, IdempotencyMeters meters) throws Exception {
        return new OrdersService(
                TestDatabase.h2(),
                JettyServer::new,
                protection,
                filter -> filter.refusals(meters),
                UnaryOperator.identity(),
                Map.of(),
                JdbiIdempotencyStore::of,
                engine -> engine.listener(meters));
    }

    @AfterAll
    void stop() throws Exception {
        background.shutdownNow();
        service.close();
        leased.close();
    }

    private HttpAnswer post(String name, String key, String body) throws IOException {
        return post(service, name, key, body);
    }

    private HttpAnswer post(OrdersService to, String name, String key, String body) throws IOException {
        return http.send("POST", to.uri(name), List.of("X-User: anne", "Idempotency-Key: " + key), body);
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private long operations(OutcomeKind kind) {
        return registry
                .find("idempotency.operations")
                .tag("outcome", kind.name().toLowerCase(Locale.ROOT))
                .timers()
                .stream()
                .mapToLong(Timer::count)
                .sum();
    }

    private double refusals(ProblemCode code) {
        return registry.find("idempotency.refusals").tag("code", code.text()).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    private void assertOneMore(OutcomeKind kind, Call call) throws Exception {
        long before = operations(kind);
        call.run();
        assertThat(operations(kind)).as("operations of outcome %s", kind).isEqualTo(before + 1);
    }

    private void assertOneMore(ProblemCode code, Call call) throws Exception {
        double before = refusals(code);
        call.run();
        assertThat(refusals(code)).as("refusals of code %s", code).isEqualTo(before + 1);
    }

    private interface Call {
        void run() throws Exception;
    }

    @Test
    void operations_areCountedByWhatBecameOfThem() throws Exception {
        String key = newKey();
        assertOneMore(OutcomeKind.EXECUTED, () -> post("orders", key, "{}"));
        assertOneMore(OutcomeKind.REPLAYED, () -> post("orders", key, "{}"));
        assertOneMore(OutcomeKind.MISMATCH, () -> post("orders", key, "[]"));
        service.on("broken", (request, response) -> response.setStatus(500));
        assertOneMore(OutcomeKind.FAILED, () -> post("broken", newKey(), "{}"));
        service.on("throwing", (request, response) -> {
            throw new IOException("broken on purpose");
        });
        assertOneMore(OutcomeKind.FAILED, () -> post("throwing", newKey(), "{}"));
        String large = newKey();
        service.on("large", (request, response) -> response.getWriter().print("x".repeat(TestLimits.REPLAY + 1)));
        post("large", large, "{}");
        assertOneMore(OutcomeKind.NOT_REPLAYABLE, () -> post("large", large, "{}"));
    }

    @Test
    void operations_storeTrouble_isCounted() throws Exception {
        service.database()
                .faults()
                .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
        assertOneMore(OutcomeKind.STORE_UNAVAILABLE, () -> post("orders", newKey(), "{}"));
        service.database().faults().inject(JdbcPoint.BEFORE_COMMIT, Fault.cut());
        assertOneMore(OutcomeKind.NOT_COMMITTED, () -> post("orders", newKey(), "{}"));
    }

    @Test
    void operations_streamedAnswer_isCountedWhenItBegins() throws Exception {
        leased.on("stream", (request, response) -> {
            IdempotentRequest.of(request).orElseThrow().stream();
            response.getWriter().print("data");
        });
        String key = newKey();
        assertOneMore(OutcomeKind.EXECUTED, () -> post(leased, "stream", key, "{}"));
        assertOneMore(OutcomeKind.NOT_REPLAYABLE, () -> post(leased, "stream", key, "{}"));
    }

    @Test
    void operations_streamedAnswerWhoseLeaseIsLost_isCounted() throws Exception {
        leased.on("late", (request, response) -> {
            leased.execute("UPDATE idempotency_record SET fencing_token = fencing_token + 1000000");
            IdempotentRequest.of(request).orElseThrow().stream();
            response.getWriter().print("never seen");
        });
        assertOneMore(
                OutcomeKind.LEASE_LOST,
                () -> assertThat(post(leased, "late", newKey(), "{}").body()).doesNotContain("never seen"));
    }

    @Test
    void operations_streamedAnswerThatCannotBeRecorded_isCounted() throws Exception {
        leased.on("unrecorded", (request, response) -> {
            leased.database()
                    .faults()
                    .inject(JdbcPoint.BEFORE_EXECUTE, sql -> sql.contains("idempotency_record"), 1, Fault.cut());
            IdempotentRequest.of(request).orElseThrow().stream();
            response.getWriter().print("never seen");
        });
        assertOneMore(
                OutcomeKind.UNKNOWN,
                () -> assertThat(post(leased, "unrecorded", newKey(), "{}").body())
                        .doesNotContain("never seen"));
    }

    @Test
    void operations_storedAnswerOfAnotherLayout_isCountedAsUnreadable() throws Exception {
        for (OrdersService either : List.of(service, leased)) {
            String key = newKey();
            post(either, "orders", key, "{}");
            either.execute("UPDATE idempotency_record SET result_metadata = X'09'");
            assertOneMore(
                    OutcomeKind.UNREADABLE,
                    () -> assertThat(post(either, "orders", key, "{}").body()).contains("response_unavailable"));
        }
    }

    @Test
    void operations_duplicateOfARunningRequest_isCountedApart() throws Exception {
        Gate gate = new Gate();
        service.on("slow", (request, response) -> {
            gate.pass();
            response.setStatus(201);
        });
        String key = newKey();
        Future<HttpAnswer> first = background.submit(() -> post("slow", key, "{}"));
        gate.awaitReached(DEADLINE);
        assertOneMore(OutcomeKind.IN_PROGRESS, () -> post("slow", key, "{}"));
        gate.open();
        first.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void refusals_areCountedByTheirCode() throws Exception {
        assertOneMore(ProblemCode.INVALID_KEY, () -> post("orders", "\"broken", "{}"));
        assertOneMore(ProblemCode.MISSING_KEY, () -> http.send("POST", service.uri("orders"), List.of(), "{}"));
        assertOneMore(
                ProblemCode.BODY_TOO_LARGE,
                () -> post("orders", newKey(), "x".repeat((int) TestLimits.REQUEST.total() + 1)));
        assertOneMore(
                ProblemCode.MALFORMED_BODY,
                () -> http.send(
                        "POST",
                        service.uri("orders"),
                        List.of("Idempotency-Key: " + newKey(), "Content-Type: multipart/form-data; boundary=b"),
                        "no part"));
        assertOneMore(
                ProblemCode.SCOPE_UNRESOLVED,
                () -> http.send(
                        "POST",
                        service.uri("orders"),
                        List.of("Idempotency-Key: " + newKey(), "Authorization: Bearer x"),
                        "{}"));
    }

    @Test
    void tags_holdNoKeyNoCallerAndNoPath() throws Exception {
        String key = newKey();
        post("orders", key, "{}");
        service.idempotency().operation("charge").key(key).execute(String.class, tx -> "done");
        List<String> values = new ArrayList<>();
        for (Meter meter : registry.getMeters()) {
            meter.getId().getTags().stream().map(Tag::getValue).forEach(values::add);
        }
        assertThat(values)
                .contains("POST", "charge", "executed", "transactional")
                .noneMatch(value -> value.contains(key) || value.contains("anne") || value.contains("/"));
    }

    @Test
    void operations_moreThanTheBound_areCountedTogether() {
        MeterRegistry own = new SimpleMeterRegistry();
        IdempotencyMeters meters = IdempotencyMeters.of(own, name -> name);
        for (int i = 0; i < 300; i++) {
            meters.onOutcome(
                    new OperationReport("GET /" + i, Protection.LEASED, OutcomeKind.EXECUTED, Duration.ofMillis(i)));
        }
        assertThat(own.find("idempotency.operations").timers()).hasSize(201);
        assertThat(own.get("idempotency.operations")
                        .tag("operation", "other")
                        .timer()
                        .count())
                .isEqualTo(100);
    }
}
