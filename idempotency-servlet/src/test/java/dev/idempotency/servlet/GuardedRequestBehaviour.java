package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Idempotent;
import dev.idempotency.Protection;
import dev.idempotency.testkit.http.HttpAnswer;
import jakarta.servlet.Servlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests the filter guards, under whose key and as which operation. */
abstract class GuardedRequestBehaviour extends FilterFixture {
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

    @ParameterizedTest
    @ValueSource(strings = {"HEAD", "OPTIONS"})
    void safeMethods_arePassedOnAsTheyAre(String method) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        orders().on("safe", (request, response) -> {
            asked.incrementAndGet();
            response.setHeader("X-Method", request.getMethod());
            response.setContentLength(4);
            if (method.equals("OPTIONS")) {
                response.getWriter().print("safe");
            }
        });
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(orders().uri("safe"))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .header("Idempotency-Key", "\"broken")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("X-Method")).contains(method);
        assertThat(answer.headers().firstValue("Content-Length")).contains("4");
        assertThat(answer.body()).isEqualTo(method.equals("HEAD") ? "" : "safe");
        assertThat(asked.get()).isEqualTo(1);
    }

    @Test
    void key_ofAnotherFormatThanTheServices_isRefused() throws Exception {
        try (OrdersService narrow = other(builder -> builder.keyFormat("[0-9a-f-]{36}"), Map.of())) {
            HttpAnswer refused = post(narrow.uri("orders"), "order-1", "{}");
            assertProblem(refused, ProblemCode.INVALID_KEY);
            assertThat(refused.body()).contains("[0-9a-f-]{36}").doesNotContain("order-1");
            assertThat(narrow.records()).isZero();
            assertThat(post(narrow.uri("orders"), newKey(), "{}").status()).isEqualTo(201);
        }
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
        orders().on("read", (request, response) -> response.getWriter().print("read"));
        HttpAnswer answer = http().send("GET", orders().uri("read"), List.of("Idempotency-Key: \"broken"), "");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("read");
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
        orders().on(name, (request, response) -> response.setStatus(200 + runs.incrementAndGet()));
        orders().on(name + "y", (request, response) -> response.setStatus(200 + runs.incrementAndGet()));
        String key = newKey();
        HttpAnswer first = post(name, key);
        assertThat(first.status()).isEqualTo(201);
        assertReplayOf(first, post(name, key));
        assertThat(post(name + "y", key).status()).isEqualTo(202);
    }

    @Test
    void servletWhoseClassCannotBeLoaded_isReadAndNotWritten() throws Exception {
        byte[] template;
        try (InputStream input = Nameless.class.getResourceAsStream("GuardedRequestBehaviour$Nameless.class")) {
            template = Objects.requireNonNull(input).readAllBytes();
        }
        // Nobody finds a hidden class by its name.
        Servlet nameless = (Servlet) MethodHandles.lookup()
                .defineHiddenClass(template, true)
                .lookupClass()
                .getDeclaredConstructor()
                .newInstance();
        try (OrdersService hidden = other(builder -> {}, Map.of("/hidden", nameless))) {
            assertThat(http().send("GET", hidden.at("/hidden"), List.of(), "").body())
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
            assertThat(http().send("POST", optional.uri("orders"), none, "{}").status())
                    .isEqualTo(201);
            assertThat(http().send("POST", optional.uri("orders"), none, "{}").status())
                    .isEqualTo(201);
            assertThat(optional.effects()).isEqualTo(2);
            assertProblem(
                    http().send("POST", optional.uri("orders"), List.of("Idempotency-Key: bare"), "{}"),
                    ProblemCode.INVALID_KEY);
            assertThat(optional.effects()).isEqualTo(2);
        }
    }

    @Test
    void bareAndQuoted_areTheSameKey() throws Exception {
        String key = newKey();
        HttpAnswer first = http().send("POST", orders().uri("orders"), List.of("Idempotency-Key: " + key), "{}");
        assertReplayOf(
                first, http().send("POST", orders().uri("orders"), List.of("Idempotency-Key: \"" + key + "\""), "{}"));
    }

    @Test
    void otherMethods_areProtectedWhereAsked() throws Exception {
        try (OrdersService deleting = other(builder -> builder.methods("DELETE"), Map.of())) {
            AtomicInteger runs = new AtomicInteger();
            deleting.on("delete", (request, response) -> response.setStatus(runs.incrementAndGet() == 1 ? 204 : 404));
            List<String> lines = List.of("Idempotency-Key: " + newKey());
            assertThat(http().send("DELETE", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(204);
            assertThat(http().send("DELETE", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(204);
            assertThat(runs.get()).isEqualTo(1);
            assertThat(http().send("POST", deleting.uri("delete"), lines, "").status())
                    .isEqualTo(404);
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
            assertThat(http().send("POST", service.at("/one"), none, "{}").body())
                    .isEqualTo("false 2");
            // doPut asks for a key of its own accord, beside the filter's methods.
            assertThat(http().send("PUT", service.at("/one"), none, "{}").status())
                    .isEqualTo(400);
            assertThat(http().send("POST", service.uri("orders"), none, "{}").status())
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
