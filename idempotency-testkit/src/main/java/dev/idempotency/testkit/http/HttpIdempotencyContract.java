package dev.idempotency.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * The rules of draft-ietf-httpapi-idempotency-key-header-07, each as a test over a real socket; whoever has a service
 * extends it.
 *
 * <p>The service is asked as its clients ask it, and its effects are counted where they are kept. Statuses are those
 * that the draft recommends.
 */
public abstract class HttpIdempotencyContract {
    private final RawHttp http = new RawHttp(Duration.ofSeconds(60));

    /** For subclasses. */
    protected HttpIdempotencyContract() {}

    /**
     * Returns the service to ask.
     *
     * @return the service, running
     */
    protected abstract ServiceUnderTest service();

    /** Section 2.1: the value is a structured-field string. */
    @Test
    void key_quotedString_isAccepted() throws Exception {
        assertThat(post(line(quoted(newKey())), 1).status()).isBetween(200, 299);
    }

    /** Section 2.1: an escape within the string is part of the value. */
    @Test
    void key_escapedQuoteAndBackslash_isAccepted() throws Exception {
        assertThat(post(line("\"" + newKey() + "\\\"\\\\\""), 1).status()).isBetween(200, 299);
    }

    /** RFC 8941, section 4.2.3: parameters of the item are ignored. */
    @Test
    void key_withParameters_isTheSameKey() throws Exception {
        String key = newKey();
        assertThat(post(line(quoted(key)), 1).status()).isBetween(200, 299);
        assertReplayed(() -> post(line(quoted(key) + ";a=1;b"), 1));
    }

    /** Section 2.1: anything that is no string is refused before it is looked up. */
    @Test
    void key_brokenString_isRefused() throws Exception {
        String key = newKey();
        List<String> broken = List.of(
                "\"" + key,
                "\"" + key + "\"x",
                "\"" + key + "\" \"" + key + "\"",
                "\"" + key + "\\n\"",
                "\"" + key + "\";",
                "\"" + key + "\";A=1",
                "\"\"",
                "");
        for (String value : broken) {
            assertRefused(value);
        }
    }

    /** RFC 8941, section 4.2: an item that comes twice, or as a list, fails to parse; the first never wins. */
    @Test
    void key_sentTwiceOrAsList_isRefused() throws Exception {
        long before = service().effects();
        HttpAnswer twice = post(List.of(header(quoted(newKey())), header(quoted(newKey()))), 1);
        HttpAnswer same = post(List.of(header("\"a\""), header("\"a\"")), 1);
        HttpAnswer list = post(line(quoted(newKey()) + ", " + quoted(newKey())), 1);
        assertThat(List.of(twice.status(), same.status(), list.status())).containsOnly(400);
        assertThat(service().effects()).isEqualTo(before);
    }

    /** Section 5: a fixed format, checked before any look-up. */
    @Test
    void key_tooLongOrNotPrintableAscii_isRefused() throws Exception {
        assertRefused(quoted("a".repeat(256)));
        assertRefused(quoted("a\u00e9b"));
        assertRefused("\"a\tb\"");
        assertRefused("\"a\u007fb\"");
    }

    /** The longest key that is allowed works. */
    @Test
    void key_of255Characters_isAccepted() throws Exception {
        String key = newKey() + "k".repeat(255 - 36);
        assertThat(post(line(quoted(key)), 1).status()).isBetween(200, 299);
        assertReplayed(() -> post(line(quoted(key)), 1));
    }

    /** Keys that differ in case, or in a trailing space, are two keys. */
    @Test
    void key_otherCaseOrTrailingSpace_isAnotherKey() throws Exception {
        long before = service().effects();
        String key = newKey();
        assertThat(post(line(quoted("k" + key)), 1).status()).isBetween(200, 299);
        assertThat(post(line(quoted("K" + key)), 1).status()).isBetween(200, 299);
        assertThat(post(line(quoted("k" + key + " ")), 1).status()).isBetween(200, 299);
        assertThat(service().effects()).isEqualTo(before + 3);
    }

    /** Section 2.6: a repeat gets the result of the first, status and body, and has no effect. */
    @Test
    void repeat_afterCompletion_getsTheFirstAnswer() throws Exception {
        long before = service().effects();
        List<String> key = line(quoted(newKey()));
        HttpAnswer first = post(key, 1);
        HttpAnswer repeat = post(key, 1);
        assertThat(first.status()).isBetween(200, 299);
        assertThat(repeat.status()).isEqualTo(first.status());
        assertThat(repeat.body()).isEqualTo(first.body());
        assertThat(repeat.header("Content-Type")).isEqualTo(first.header("Content-Type"));
        assertThat(service().effects()).isEqualTo(before + 1);
    }

    /** Section 2.6: the result of the first request may be an error, and a repeat gets that. */
    @Test
    void repeat_ofARefusal_getsTheFirstAnswer() throws Exception {
        String refusedBody = service().refusedBody();
        assumeThat(refusedBody).as("a body that is refused for good").isNotNull();
        long before = service().effects();
        List<String> key = line(quoted(newKey()));
        HttpAnswer first = postBody(key, String.valueOf(refusedBody));
        HttpAnswer repeat = postBody(key, String.valueOf(refusedBody));
        assertThat(first.status()).isBetween(400, 499);
        assertThat(repeat.status()).isEqualTo(first.status());
        assertThat(repeat.body()).isEqualTo(first.body());
        assertThat(service().effects()).isEqualTo(before);
    }

    /** Section 5: what is looked up is the key together with who sends it, so that nobody gets another's answer. */
    @Test
    void key_ofAnotherCaller_isAnotherKey() throws Exception {
        assumeThat(service().otherCaller()).as("another caller").isNotEmpty();
        long before = service().effects();
        List<String> key = line(quoted(newKey()));
        HttpAnswer first = post(key, 1);
        List<String> asAnother = new ArrayList<>(key);
        asAnother.addAll(service().otherCaller());
        HttpAnswer others = post(asAnother, 1);
        assertThat(List.of(first.status(), others.status()))
                .allSatisfy(status -> assertThat(status).isBetween(200, 299));
        assertThat(service().effects()).isEqualTo(before + 2);
    }

    /** The header has a meaning for requests with an effect; on a safe one it is ignored, whatever it holds. */
    @Test
    void key_onASafeMethod_isIgnored() throws Exception {
        HttpAnswer without = http.send("GET", service().operation(), List.of(), "");
        HttpAnswer broken = http.send("GET", service().operation(), line("\"broken"), "");
        assertThat(broken.status()).isEqualTo(without.status());
    }

    /** Section 2.7: a client that is refused must be able to find out why, so problems name a type that is a URI. */
    @Test
    void problem_hasATypeThatIsAUri() throws Exception {
        HttpAnswer answer = post(List.of(), 1);
        String link = answer.header("Link").orElse("");
        URI type = URI.create(link.substring(link.indexOf('<') + 1, link.indexOf('>')));
        assertThat(type.isAbsolute()).isTrue();
        assertThat(answer.body()).contains("\"type\":\"" + type + "\"");
    }

    /** A stored answer never carries a session. */
    @Test
    void repeat_neverCarriesSetCookie() throws Exception {
        List<String> key = line(quoted(newKey()));
        post(key, 1);
        assertThat(post(key, 1).header("Set-Cookie")).isEmpty();
    }

    /** Section 2.2 and 2.7: the same key with another payload is refused with 422. */
    @Test
    void repeat_withOtherPayload_isRefused422() throws Exception {
        long before = service().effects();
        List<String> key = line(quoted(newKey()));
        post(key, 1);
        HttpAnswer other = post(key, 2);
        assertThat(other.status()).isEqualTo(422);
        assertProblem(other, false);
        assertThat(service().effects()).isEqualTo(before + 1);
    }

    /** Section 2.7: where a key is required and missing, the answer is 400 and nothing happens. */
    @Test
    void key_missing_isRefused400() throws Exception {
        long before = service().effects();
        HttpAnswer answer = post(List.of(), 1);
        assertThat(answer.status()).isEqualTo(400);
        assertProblem(answer, false);
        assertThat(service().effects()).isEqualTo(before);
    }

    /** Section 2.6: of equal requests at the same moment one has an effect; the others get its answer or 409. */
    @Test
    void duplicates_atTheSameMoment_haveOneEffect() throws Exception {
        for (int round = 0; round < 10; round++) {
            long before = service().effects();
            List<String> key = line(quoted(newKey()));
            List<HttpAnswer> answers = atOnce(8, () -> post(key, 1));
            assertThat(service().effects()).isEqualTo(before + 1);
            assertThat(answers)
                    .allSatisfy(answer -> assertThat(answer.status())
                            .satisfiesAnyOf(
                                    status -> assertThat(status).isBetween(200, 299),
                                    status -> assertThat(status).isIn(409, 503)));
            assertThat(answers.stream().filter(answer -> answer.status() == 409))
                    .allSatisfy(answer -> assertProblem(answer, true));
            assertReplayed(() -> post(key, 1));
        }
    }

    private void assertRefused(String value) throws IOException {
        long before = service().effects();
        HttpAnswer answer = post(line(value), 1);
        assertThat(answer.status())
                .as("the answer to the header value <%s>", value)
                .isEqualTo(400);
        assertThat(service().effects()).isEqualTo(before);
    }

    private void assertReplayed(Callable<HttpAnswer> repeat) throws Exception {
        long before = service().effects();
        assertThat(repeat.call().status()).isBetween(200, 299);
        assertThat(service().effects()).isEqualTo(before);
    }

    /** Section 2.7 with RFC 9457: a problem document that links to its documentation and says what a client may do. */
    private static void assertProblem(HttpAnswer answer, boolean retryable) {
        assertThat(answer.header("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(answer.header("Link").orElse("")).contains("rel=\"describedby\"");
        assertThat(answer.body())
                .contains("\"type\":\"", "\"title\":\"", "\"detail\":\"", "\"code\":\"")
                .contains("\"status\":" + answer.status())
                .contains("\"retryable\":" + retryable);
        assertThat(answer.header("Retry-After").isPresent()).isEqualTo(retryable);
    }

    private HttpAnswer post(List<String> keyLines, int body) throws IOException {
        return postBody(keyLines, service().body(body));
    }

    private HttpAnswer postBody(List<String> keyLines, String body) throws IOException {
        List<String> lines = new ArrayList<>(keyLines);
        lines.add("Content-Type: " + service().contentType());
        return http.send("POST", service().operation(), lines, body);
    }

    private static List<HttpAnswer> atOnce(int count, Callable<HttpAnswer> request) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(count);
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            List<Future<HttpAnswer>> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                futures.add(threads.submit(() -> {
                    barrier.await();
                    return request.call();
                }));
            }
            List<HttpAnswer> answers = new ArrayList<>();
            for (Future<HttpAnswer> future : futures) {
                answers.add(future.get());
            }
            return answers;
        } finally {
            threads.shutdownNow();
        }
    }

    private static List<String> line(String value) {
        return List.of(header(value));
    }

    private static String header(String value) {
        return "Idempotency-Key: " + value;
    }

    private static String quoted(String value) {
        return "\"" + value + "\"";
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }
}
