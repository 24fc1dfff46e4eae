package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is recorded and replayed of a request whose answer is rendered by the container's error dispatch, with the filter
 * mapped to that dispatch too.
 */
class ErrorDispatchIT {
    private final RawHttp http = new RawHttp(Duration.ofSeconds(60));
    private @Nullable OrdersService running;

    static List<Arguments> servers() {
        ServletServer.Starter jetty = JettyServer::new;
        ServletServer.Starter tomcat = TomcatServer::new;
        return List.of(
                Arguments.argumentSet("Jetty, TRANSACTIONAL", jetty, Protection.TRANSACTIONAL),
                Arguments.argumentSet("Jetty, LEASED", jetty, Protection.LEASED),
                Arguments.argumentSet("Tomcat, TRANSACTIONAL", tomcat, Protection.TRANSACTIONAL),
                Arguments.argumentSet("Tomcat, LEASED", tomcat, Protection.LEASED));
    }

    private OrdersService start(ServletServer.Starter server, Protection protection) throws Exception {
        OrdersService service = new OrdersService(
                TestDatabase.h2(),
                server,
                protection,
                options -> {},
                UnaryOperator.identity(),
                Map.of(ErrorPage.MAPPING, new ErrorPage()));
        running = service;
        return service;
    }

    @AfterEach
    void stop() throws Exception {
        OrdersService service = Objects.requireNonNull(running);
        assertThat(service.database().active()).as("connections in use").isZero();
        service.close();
    }

    private static AtomicInteger on(OrdersService service, String name, Handler rest) {
        AtomicInteger runs = new AtomicInteger();
        service.on(name, (request, response) -> {
            runs.incrementAndGet();
            service.insert(request);
            rest.handle(request, response);
        });
        return runs;
    }

    private HttpAnswer post(OrdersService service, String name, String key) throws IOException {
        return http.send(
                "POST", service.uri(name), List.of("Idempotency-Key: " + key, "Content-Type: application/json"), "{}");
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private static boolean isReplayed(HttpAnswer answer) {
        return answer.header("Idempotent-Replayed").equals(Optional.of("true"));
    }

    /** The error is recorded, not its page: the repeat gets the same status and message, and the page of the day. */
    @ParameterizedTest
    @MethodSource("servers")
    void sendError_refusalWithAPage_isRecordedAndRenderedAgain(ServletServer.Starter server, Protection protection)
            throws Exception {
        OrdersService service = start(server, protection);
        AtomicInteger runs = on(service, "gone", (request, response) -> {
            response.setHeader("Location", "/elsewhere");
            response.getWriter().print("never seen");
            response.sendError(410, "sold out");
        });
        String key = newKey();

        HttpAnswer first = post(service, "gone", key);
        HttpAnswer repeat = post(service, "gone", key);

        assertThat(first.status()).isEqualTo(410);
        assertThat(first.body()).isEqualTo("page 1 of ERROR 410 sold out, handle false");
        assertThat(isReplayed(first)).isFalse();
        assertThat(repeat.status()).isEqualTo(410);
        assertThat(repeat.body()).isEqualTo("page 2 of ERROR 410 sold out, handle false");
        assertThat(isReplayed(repeat)).isTrue();
        assertThat(runs).hasValue(1);
        assertThat(service.effects("gone")).isEqualTo(protection == Protection.LEASED ? 1 : 0);
    }

    @ParameterizedTest
    @MethodSource("servers")
    void sendError_failureWithAPage_isRolledBackOrKeptAsItsProtectionSays(
            ServletServer.Starter server, Protection protection) throws Exception {
        OrdersService service = start(server, protection);
        AtomicInteger runs = on(service, "full", (request, response) -> response.sendError(507));
        String key = newKey();

        HttpAnswer first = post(service, "full", key);
        HttpAnswer repeat = post(service, "full", key);

        assertThat(first.status()).isEqualTo(507);
        assertThat(first.body()).startsWith("page 1 of ERROR 507 ");
        assertThat(repeat.status()).isEqualTo(507);
        assertThat(repeat.body()).startsWith("page 2 of ERROR 507 ");
        boolean leased = protection == Protection.LEASED;
        assertThat(isReplayed(repeat)).isEqualTo(leased);
        assertThat(runs).hasValue(leased ? 1 : 2);
        assertThat(service.effects("full")).isEqualTo(leased ? 1 : 0);
    }

    @ParameterizedTest
    @MethodSource("servers")
    void exception_withAPage_freesTheKeyOrLeavesItInDoubt(ServletServer.Starter server, Protection protection)
            throws Exception {
        OrdersService service = start(server, protection);
        AtomicInteger runs = new AtomicInteger();
        on(service, "throwing", (request, response) -> {
            response.setStatus(201);
            response.getWriter().print("never seen");
            response.flushBuffer();
            if (runs.incrementAndGet() == 1) {
                throw new ErrorPage.MappedException();
            }
        });
        String key = newKey();

        HttpAnswer first = post(service, "throwing", key);
        HttpAnswer repeat = post(service, "throwing", key);

        assertThat(first.status()).isEqualTo(500);
        assertThat(first.body()).startsWith("page 1 of ERROR 500 ").endsWith("handle false");
        boolean leased = protection == Protection.LEASED;
        assertThat(repeat.status()).isEqualTo(leased ? 409 : 201);
        assertThat(service.effects("throwing")).isEqualTo(1);
        assertThat(runs).hasValue(leased ? 1 : 2);
    }

    /** Without a page of the application the container writes one of its own. */
    @ParameterizedTest
    @MethodSource("servers")
    void sendError_pageThatTheContainerHasNot_isRecordedAllTheSame(ServletServer.Starter server, Protection protection)
            throws Exception {
        OrdersService service = start(server, protection);
        AtomicInteger runs = on(service, "unmapped", (request, response) -> response.sendError(422, "not that"));
        String key = newKey();

        HttpAnswer first = post(service, "unmapped", key);
        HttpAnswer repeat = post(service, "unmapped", key);

        assertThat(first.status()).isEqualTo(422);
        assertThat(repeat.status()).isEqualTo(422);
        assertThat(isReplayed(repeat)).isTrue();
        assertThat(runs).hasValue(1);
    }

    /** The refusals of the filter itself are whole answers: no page takes the problem's place. */
    @ParameterizedTest
    @MethodSource("servers")
    void problem_ofTheFilter_isNotReplacedByAPage(ServletServer.Starter server, Protection protection)
            throws Exception {
        OrdersService service = start(server, protection);

        HttpAnswer answer = post(service, "anything", " ");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.header("Content-Type").orElseThrow()).contains("application/problem+json");
    }
}
