package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.http.HttpAnswer;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of requests: what the chain can still read of them, how they are compared, and which are refused. */
abstract class RequestBodyBehaviour extends GuardedRequestBehaviour {
    @Test
    void body_beyondTheLimit_is413ByBytesRead() throws Exception {
        AtomicInteger runs = onOrder("upload", (request, response) -> response.setStatus(200));
        String most = "x".repeat((int) TestLimits.REQUEST.total());
        long before = orders().records();
        List<String> lines = List.of("Idempotency-Key: " + newKey());
        assertProblem(http().send("POST", orders().uri("upload"), lines, most + "x"), ProblemCode.BODY_TOO_LARGE);
        assertProblem(
                http().sendChunked("POST", orders().uri("upload"), lines, List.of(most, "x")),
                ProblemCode.BODY_TOO_LARGE);
        assertThat(orders().records()).isEqualTo(before);
        assertThat(runs.get()).isZero();
        assertThat(http().sendChunked("POST", orders().uri("upload"), lines, List.of(most))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void body_inMemoryAndInFile_isGivenWhole() throws Exception {
        orders().on("echo", (request, response) -> {
            byte[] bytes = request.getInputStream().readAllBytes();
            response.getOutputStream().write(bytes);
        });
        for (int size : new int[] {0, 1, 4095, 4096, 4097, 60_000}) {
            String body = "y".repeat(size);
            String key = newKey();
            HttpAnswer first = post(orders().uri("echo"), key, body);
            assertThat(first.body()).isEqualTo(body);
            assertReplayOf(first, post(orders().uri("echo"), key, body));
        }
    }

    @Test
    void body_chunkedOrNot_isTheSameRequest() throws Exception {
        AtomicInteger runs = onOrder("chunks", (request, response) -> response.setStatus(200));
        List<String> lines = List.of("Idempotency-Key: " + newKey());
        http().send("POST", orders().uri("chunks"), lines, "abcdef");
        assertThat(http().sendChunked("POST", orders().uri("chunks"), lines, List.of("ab", "cdef"))
                        .header("Idempotent-Replayed"))
                .contains("true");
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void body_truncated_makesNoRecordAndDoesNotRun() throws Exception {
        AtomicInteger runs = onOrder("truncated", (request, response) -> response.setStatus(200));
        String key = newKey();
        long before = orders().records();
        try {
            HttpAnswer answer = http().sendTruncated(
                            "POST", orders().uri("truncated"), List.of("Idempotency-Key: " + key), 100, "half");
            assertThat(answer.status()).isEqualTo(400);
        } catch (IOException closedWithoutAnswer) {
            assertThat(closedWithoutAnswer).isNotNull();
        }
        assertThat(runs.get()).isZero();
        assertThat(orders().records()).isEqualTo(before);
        assertThat(http().send("POST", orders().uri("truncated"), List.of("Idempotency-Key: " + key), "half")
                        .status())
                .isEqualTo(200);
    }

    /** RFC 9110, section 10.1.1. Tomcat gives leave before any filter runs, Jetty when the body is read. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void body_thatWaitsForContinue_getsLeaveOrARefusal(boolean valid) throws Exception {
        AtomicInteger runs = onOrder("continue", (request, response) -> response.setStatus(201));
        URI uri = orders().uri("continue");
        try (Socket client = new Socket(uri.getHost(), uri.getPort())) {
            client.setSoTimeout((int) DEADLINE.toMillis());
            client.getOutputStream()
                    .write(("POST " + uri.getPath() + " HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: "
                                    + (valid ? newKey() : "\"broken")
                                    + "\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            String first = answer.readLine();
            if (first.startsWith("HTTP/1.1 100")) {
                assertThat(answer.readLine()).isEmpty();
                assertThat(runs.get()).isZero();
                client.getOutputStream().write("{}".getBytes(StandardCharsets.US_ASCII));
                first = answer.readLine();
            } else {
                assertThat(valid).as("refused without its body").isFalse();
            }
            assertThat(first).startsWith(valid ? "HTTP/1.1 201" : "HTTP/1.1 400");
        }
        assertThat(runs.get()).isEqualTo(valid ? 1 : 0);
    }

    @Test
    void body_asReader_hasItsCharset() throws Exception {
        orders().on("reader", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().print(request.getReader().readLine());
        });
        assertThat(postAs("application/json", "reader", newKey(), "\"\u20ac\"").body())
                .isEqualTo("\"\u20ac\"");
        assertThat(postAs("text/plain;charset=UTF-8", "reader", newKey(), "\u00e9")
                        .body())
                .isEqualTo("\u00e9");
        assertThat(postAs("text/plain", "reader", newKey(), "\u00e9").body()).isEqualTo("\u00c3\u00a9");
    }

    @Test
    void body_asStreamAndReader_isRefused() throws Exception {
        orders().on("both", (request, response) -> {
            request.getInputStream();
            try {
                request.getReader();
            } catch (IllegalStateException e) {
                response.getWriter().print("refused");
            }
        });
        assertThat(post("both", newKey()).body()).isEqualTo("refused");
    }

    @Test
    void body_asForm_hasParametersOfQueryAndBody() throws Exception {
        orders().on("form", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter()
                    .print(String.join("|", request.getParameterValues("a")) + ";"
                            + request.getParameter("b") + ";" + request.getParameter("c") + ";"
                            + request.getParameterMap().size() + ";" + request.getParameter("d"));
        });
        HttpAnswer answer =
                postAs("application/x-www-form-urlencoded", "form?a=0", newKey(), "a=1&a=2+3&b=%E2%82%AC&c&&=x");
        assertThat(answer.body()).isEqualTo("0|1|2 3;\u20ac;;4;null");
    }

    @Test
    void body_asForm_askedForByAFilterBefore_isComparedAllTheSame() throws Exception {
        try (OrdersService asked = behind(filter -> new Before(filter, (request, response, next) -> {
            request.getParameter("csrf");
            next.proceed(request);
        }))) {
            asked.on("form", (request, response) -> response.getWriter().print(request.getParameter("amount")));
            String key = newKey();
            HttpAnswer first = postForm(asked, key, "amount=1&a=b");
            assertThat(first.body()).isEqualTo("1");
            assertReplayOf(first, postForm(asked, key, "amount=1&a=b"));
            assertProblem(postForm(asked, key, "amount=2&a=b"), ProblemCode.KEY_REUSED);
            assertProblem(postForm(asked, key, "amount=1&a="), ProblemCode.KEY_REUSED);
        }
    }

    private HttpAnswer postForm(OrdersService at, String key, String body) throws IOException {
        List<String> lines = List.of("Idempotency-Key: " + key, "Content-Type: application/x-www-form-urlencoded");
        return http().send("POST", at.uri("form"), lines, body);
    }

    @Test
    void body_thatCannotBeHeld_isNotTheClientsFault() throws Exception {
        try (OrdersService interrupted = behind(filter -> new Before(filter, (request, response, next) -> {
            // An interrupted thread cannot write to a file channel; neither can one whose disk is full. The body is
            // here by
            // then, because the container's own reading would notice the interrupt, too.
            ServletRequest whole = BodyAtHand.of((HttpServletRequest) request);
            Thread.currentThread().interrupt();
            try {
                next.proceed(whole);
            } finally {
                Thread.interrupted();
            }
        }))) {
            HttpAnswer answer = post(interrupted.uri("orders"), newKey(), "x".repeat(100_000));
            assertThat(answer.status()).as(answer.body()).isEqualTo(500);
            assertThat(interrupted.effects()).isZero();
        }
    }

    @Test
    void body_asMultipart_isComparedByParts() throws Exception {
        AtomicInteger runs = onOrder("multipart", (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            StringBuilder text = new StringBuilder();
            for (Part part : request.getParts()) {
                text.append(part.getName())
                        .append('=')
                        .append(part.getSubmittedFileName())
                        .append('=');
                text.append(new String(part.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .append(';');
            }
            response.getWriter().print(text + request.getParameter("note"));
        });
        String key = newKey();
        HttpAnswer first = multipart("multipart", key, "one", "hello", "file.txt", "content");
        assertThat(first.body()).isEqualTo("note=null=hello;file=file.txt=content;hello");
        assertReplayOf(first, multipart("multipart", key, "two", "hello", "file.txt", "content"));
        assertProblem(multipart("multipart", key, "one", "hello", "file.txt", "other"), ProblemCode.KEY_REUSED);
        assertProblem(multipart("multipart", key, "one", "hello", "other.txt", "content"), ProblemCode.KEY_REUSED);
        assertThat(runs.get()).isEqualTo(1);
    }

    @Test
    void body_asMultipart_beyondTheServletsLimitOrOurs_isRefused() throws Exception {
        AtomicInteger runs = onOrder("parts", (request, response) -> response.setStatus(200));
        long before = orders().records();
        String beyondOnePart = "x".repeat((int) TestLimits.PART + 1);
        HttpAnswer refused = multipart("parts", newKey(), "one", "hello", "file.txt", beyondOnePart);
        assertThat(refused.status()).isIn(400, 413);
        HttpAnswer broken = postAs("multipart/form-data; boundary=one", "parts", newKey(), "--one\r\nbroken");
        assertThat(broken.status()).isEqualTo(400);
        assertThat(runs.get()).isZero();
        assertThat(orders().records()).isEqualTo(before);
    }

    private HttpAnswer multipart(String name, String key, String boundary, String note, String file, String content)
            throws IOException {
        String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n" + note + "\r\n--"
                + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file
                + "\"\r\nContent-Type: text/plain\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n";
        return postAs("multipart/form-data; boundary=" + boundary, name, key, body);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=%zz", "a=%", "a=1&b=%4", "%0"})
    void body_asBrokenForm_isTheClientsFault(String body) throws Exception {
        AtomicInteger runs = onOrder("broken-form", (request, response) -> request.getParameter("a"));
        assertProblem(
                postAs("application/x-www-form-urlencoded", "broken-form", newKey(), body), ProblemCode.MALFORMED_BODY);
        assertThat(runs.get()).isZero();
    }

    @Test
    void body_asMultipart_thatSaysItIsBeyondOurLimit_isNotGivenToTheContainer() throws Exception {
        AtomicInteger runs = onOrder("large-parts", (request, response) -> response.setStatus(200));
        String content = "x".repeat((int) TestLimits.REQUEST.total());
        assertProblem(
                multipart("large-parts", newKey(), "one", "hello", "file.txt", content), ProblemCode.BODY_TOO_LARGE);
        assertThat(runs.get()).isZero();
    }
}
