package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.http.HttpAnswer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers: what of them a repeat gets, and what handlers and containers do to them. */
abstract class AnswerBehaviour extends RequestBodyBehaviour {
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
        assertThat(orders().effects("large")).isEqualTo(1);
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

    @Test
    void include_isPartOfTheAnswer() throws Exception {
        orders().on("included", (request, response) -> {
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
        orders().on("forwarded", (request, response) -> {
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
}
