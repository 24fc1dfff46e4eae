package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.testkit.fault.Gate;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Many equal requests at the same moment on a pool of four connections, and duplicates of one that takes long. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EqualRequestsIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final int MOST = 200;

    private final RawHttp http = new RawHttp(DEADLINE);
    private final ExecutorService clients = Executors.newFixedThreadPool(MOST);

    @AfterAll
    void close() throws InterruptedException {
        clients.shutdownNow();
        assertThat(clients.awaitTermination(DEADLINE.toSeconds(), TimeUnit.SECONDS))
                .as("every client has ended")
                .isTrue();
    }

    static Stream<Arguments> servers() {
        ServletServer.Starter jetty = JettyServer::new;
        ServletServer.Starter tomcat = TomcatServer::new;
        return Stream.of(
                Arguments.argumentSet("Jetty, TRANSACTIONAL", jetty, Protection.TRANSACTIONAL),
                Arguments.argumentSet("Jetty, LEASED", jetty, Protection.LEASED),
                Arguments.argumentSet("Tomcat, TRANSACTIONAL", tomcat, Protection.TRANSACTIONAL),
                Arguments.argumentSet("Tomcat, LEASED", tomcat, Protection.LEASED));
    }

    /** 200 rounds of each number in the full profile. */
    private static int rounds(int requests) {
        if (System.getProperty("idempotency.profile", "ci").equals("full")) {
            return 200;
        }
        return requests == MOST ? 1 : 5;
    }

    private static OrdersService start(ServletServer.Starter server, Protection protection) throws Exception {
        return start(server, protection, Duration.ZERO, 16);
    }

    private static OrdersService start(
            ServletServer.Starter server, Protection protection, Duration maxWait, int maxWaiters) throws Exception {
        return new OrdersService(
                TestDatabase.postgreSql(),
                server,
                protection,
                filter -> filter.maxWait(maxWait),
                UnaryOperator.identity(),
                Map.of(),
                JdbiIdempotencyStore::of,
                engine -> engine.maxWaiters(maxWaiters));
    }

    private HttpAnswer post(OrdersService service, String name, String key) throws IOException {
        return http.send(
                "POST", service.uri(name), List.of("Idempotency-Key: " + key, "Content-Type: application/json"), "{}");
    }

    private <T> List<T> together(int members, Callable<T> task) throws Exception {
        CyclicBarrier start = new CyclicBarrier(members);
        List<Future<T>> futures = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            futures.add(clients.submit(() -> {
                start.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
                return task.call();
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
        }
        return results;
    }

    @ParameterizedTest
    @MethodSource("servers")
    void equalRequests_atTheSameMoment_haveOneEffect(ServletServer.Starter server, Protection protection)
            throws Exception {
        try (OrdersService service = start(server, protection)) {
            AtomicInteger runs = new AtomicInteger();
            service.on("equal", (request, response) -> {
                runs.incrementAndGet();
                String order = service.insert(request);
                response.setStatus(201);
                response.getWriter().print(order);
            });
            int operations = 0;
            for (int requests : new int[] {2, 16, MOST}) {
                for (int round = 1; round <= rounds(requests); round++) {
                    String key = UUID.randomUUID().toString();
                    List<HttpAnswer> answers = together(requests, () -> post(service, "equal", key));
                    operations++;

                    HttpAnswer original = post(service, "equal", key);
                    assertThat(original.status()).isEqualTo(201);
                    assertThat(answers)
                            .as("answers of round %s with %s requests", round, requests)
                            .allSatisfy(answer -> assertOriginalOrBusy(answer, original.body()))
                            .anySatisfy(answer -> assertThat(answer.status()).isEqualTo(201));
                    assertThat(runs).hasValue(operations);
                    assertThat(service.effects("equal")).isEqualTo(operations);
                }
            }
            assertNothingIsStuck(service);
        }
    }

    private static void assertOriginalOrBusy(HttpAnswer answer, String original) {
        assertThat(answer.status()).isIn(201, 409, 503);
        if (answer.status() == 201) {
            assertThat(answer.body()).isEqualTo(original);
        } else {
            assertThat(answer.body()).contains("\"retryable\":true");
            assertThat(answer.header("Retry-After")).isPresent();
            assertThat(answer.body())
                    .contains(answer.status() == 409 ? "\"code\":\"in_progress\"" : "\"code\":\"store_unavailable\"");
        }
    }

    /** A client may have its answer before the server's thread has left the filter. */
    private static void assertNothingIsStuck(OrdersService service) {
        Awaitility.await().atMost(DEADLINE).untilAsserted(() -> assertNothingIsInUse(service));
    }

    private static void assertNothingIsInUse(OrdersService service) {
        assertThat(service.database().active()).as("connections in use").isZero();
        assertThat(service.database().awaiting())
                .as("threads that wait for one")
                .isZero();
        List<Thread> inside = Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> Arrays.stream(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().equals(IdempotencyFilter.class.getName())))
                .map(Map.Entry::getKey)
                .toList();
        assertThat(inside).as("threads inside the filter").isEmpty();
    }

    /**
     * More of them than the pool has connections, so if each held one nobody could look again; and more than there are places,
     * so that one more is answered at once.
     */
    @ParameterizedTest
    @MethodSource("servers")
    void duplicates_thatWait_holdNoConnectionAndAreBounded(ServletServer.Starter server, Protection protection)
            throws Exception {
        int places = 12;
        try (OrdersService service = start(server, protection, Duration.ofMinutes(2), places)) {
            Gate gate = new Gate();
            AtomicInteger runs = new AtomicInteger();
            service.on("awaited", (request, response) -> {
                runs.incrementAndGet();
                String order = service.insert(request);
                gate.pass();
                response.setStatus(201);
                response.getWriter().print(order);
            });
            String key = UUID.randomUUID().toString();
            Future<HttpAnswer> owner = clients.submit(() -> post(service, "awaited", key));
            gate.awaitReached(DEADLINE);
            CountDownLatch oneTooMany = new CountDownLatch(1);
            AtomicInteger answered = new AtomicInteger();
            List<Future<HttpAnswer>> duplicates = new ArrayList<>();
            for (int i = 0; i <= places; i++) {
                duplicates.add(clients.submit(() -> {
                    HttpAnswer answer = post(service, "awaited", key);
                    answered.incrementAndGet();
                    if (answer.status() == 409) {
                        oneTooMany.countDown();
                    }
                    return answer;
                }));
            }
            assertThat(oneTooMany.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(answered).hasValue(1);
            // Another operation gets its connections while they wait.
            assertThat(post(service, "orders", UUID.randomUUID().toString()).status())
                    .isEqualTo(201);
            gate.open();
            HttpAnswer original = owner.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            List<Integer> statuses = new ArrayList<>();
            for (Future<HttpAnswer> duplicate : duplicates) {
                HttpAnswer answer = duplicate.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
                statuses.add(answer.status());
                assertOriginalOrBusy(answer, original.body());
            }
            assertThat(statuses).containsOnly(201, 409).containsOnlyOnce(409);
            assertThat(runs).hasValue(1);
            assertNothingIsStuck(service);
        }
    }

    /**
     * The owner is held while it runs, as by work of ten seconds and more, and the duplicates have their answers before it
     * goes on. How long they took is printed and not asserted: a machine may be busy.
     */
    @ParameterizedTest
    @MethodSource("servers")
    void duplicates_ofARequestThatRuns_areAnsweredMeanwhile(ServletServer.Starter server, Protection protection)
            throws Exception {
        try (OrdersService service = start(server, protection)) {
            Gate gate = new Gate();
            service.on("long", (request, response) -> {
                service.insert(request);
                gate.pass();
                response.setStatus(201);
            });
            String key = UUID.randomUUID().toString();
            Future<HttpAnswer> owner = clients.submit(() -> post(service, "long", key));
            gate.awaitReached(DEADLINE);
            List<Long> millis = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                long before = System.nanoTime();
                HttpAnswer duplicate = post(service, "long", key);
                millis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
                assertThat(duplicate.status()).isEqualTo(409);
                assertThat(owner).isNotDone();
            }
            gate.open();
            assertThat(owner.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).status())
                    .isEqualTo(201);
            assertThat(post(service, "long", key).header("Idempotent-Replayed")).isEqualTo(Optional.of("true"));
            millis.sort(null);
            System.out.printf(
                    "Duplicates of a running request, %s: answered in %d ms (median), %d ms (slowest of %d)%n",
                    protection, millis.get(millis.size() / 2), millis.get(millis.size() - 1), millis.size());
            assertNothingIsStuck(service);
        }
    }
}
