package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** SIGTERM under full load: a process of its own on Jetty and PostgreSQL, and sixteen clients that never pause. */
@Timeout(300)
class SigtermIT {
    private static final int CLIENTS = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration GRACE = Duration.ofSeconds(25);
    private static final long SEED = Long.getLong("idempotency.seed", System.nanoTime());

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private PostgreSqlDatabase database;

    @BeforeEach
    void start() throws SQLException {
        database = EmbeddedPostgreSql.shared().createDatabase();
        SchemaInstaller.of(database.dataSource()).install();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id text PRIMARY KEY, request_key text NOT NULL)");
        }
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
        database.close();
    }

    /** What became of one request. */
    private enum Answer {
        PLACED,
        /** 503 with Retry-After and {@code Connection: close}. */
        TURNED_AWAY,
        NOT_CONNECTED,
        BROKEN,
        OTHER
    }

    private record Sent(String key, Answer answer, String detail) {}

    /** Until everything is drained, every request has its order or its refusal; nothing in between. */
    @Test
    void signal_underFullLoad_everyRequestIsAnsweredOrTurnedAwayWithoutARow() throws Exception {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 1; round <= rounds(); round++) {
            String name = "round " + round + ", -Didempotency.seed=" + SEED;
            Round result = round(random, true);
            assertThat(result.sent)
                    .as(name)
                    .filteredOn(sent -> sent.answer != Answer.PLACED && sent.answer != Answer.TURNED_AWAY)
                    .isEmpty();
            assertRows(name, result.sent);
            assertThat(result.count(Answer.TURNED_AWAY))
                    .as(name + ": turned away")
                    .isPositive();
        }
    }

    /** When the server closes under load a connection may break; but never after the order was placed. */
    @Test
    void signal_clientsGoOnUntilNothingListens_noPlacedOrderIsWithoutItsAnswer() throws Exception {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 1; round <= rounds(); round++) {
            String name = "round " + round + ", -Didempotency.seed=" + SEED;
            Round result = round(random, false);
            assertThat(result.sent)
                    .as(name)
                    .filteredOn(sent -> sent.answer == Answer.OTHER)
                    .isEmpty();
            assertRows(name, result.sent);
        }
    }

    /** What does not end in time is cut off; the transaction rolls back, and the repeat runs at once and once. */
    @Test
    void signal_transactionOutlastsTheGracePeriod_isRolledBackAndItsRepeatRunsOnce() throws Exception {
        Duration grace = Duration.ofSeconds(3);
        String key = UUID.randomUUID().toString();
        try (ChildJvm child = start(false, grace)) {
            int port = Integer.parseInt(child.awaitLineWith("PORT ", PATIENCE));
            Future<Sent> request = threads.submit(() -> send(port, key, 60_000));
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE"
                                            + " datname = current_database() AND state = 'active' AND query LIKE 'INSERT INTO orders%'")
                            == 1);
            long signalled = System.nanoTime();

            child.terminate();

            assertThat(child.awaitExit(PATIENCE)).isIn(143, 1);
            assertThat(Duration.ofNanos(System.nanoTime() - signalled)).isLessThan(grace.plusSeconds(2));
            assertThat(request.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).answer)
                    .isEqualTo(Answer.BROKEN);
            assertThat(child.lines()).anyMatch(line -> line.contains("POST /orders age="));
        }
        assertThat(count("SELECT count(*) FROM orders")).isZero();
        try (ChildJvm child = start(false, grace)) {
            int port = Integer.parseInt(child.awaitLineWith("PORT ", PATIENCE));
            assertThat(send(port, key, 0).answer).isEqualTo(Answer.PLACED);
            assertThat(send(port, key, 0).detail).contains("idempotent-replayed");
        }
        assertThat(count("SELECT count(*) FROM orders")).isEqualTo(1);
    }

    private ChildJvm start(boolean waits, Duration grace) {
        return ChildJvm.of(OrdersProgram.class)
                .arguments(database.url(), waits, grace)
                .jvmArguments("-Xmx256m")
                .start();
    }

    private long count(String query) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static int rounds() {
        return switch (System.getProperty("idempotency.profile", "ci")) {
            case "fast" -> 1;
            case "full" -> 20;
            default -> 4;
        };
    }

    /** One life of the service, from its first request to its exit. */
    private Round round(SplittableRandom random, boolean waits) throws Exception {
        try (ChildJvm child = start(waits, GRACE)) {
            int port = Integer.parseInt(child.awaitLineWith("PORT ", PATIENCE));
            assertThat(probe(port, "/ready")).isEqualTo(200);
            assertThat(probe(port, "/live")).isEqualTo(200);
            Round round = new Round(port, random.nextInt(50, 300));
            round.begin(random);
            assertThat(round.enough.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("orders are placed")
                    .isTrue();

            child.terminate();

            child.awaitLineWith("DRAINED", PATIENCE);
            if (waits) {
                assertThat(probe(port, "/ready")).isEqualTo(503);
                assertThat(probe(port, "/live")).isEqualTo(200);
                round.end();
                child.writeLine("close");
            }
            assertThat(child.awaitExit(PATIENCE)).isEqualTo(143);
            round.end();
            assertThat(child.lines()).noneMatch(line -> line.contains("UNCLEAN"));
            return round;
        }
    }

    private final class Round {
        private final Queue<Sent> sent = new ConcurrentLinkedQueue<>();
        private final CountDownLatch enough;
        private final List<Future<?>> clients = new ArrayList<>();
        private final int port;
        private volatile boolean ended;

        Round(int port, int enough) {
            this.port = port;
            this.enough = new CountDownLatch(enough);
        }

        void begin(SplittableRandom random) {
            for (int i = 0; i < CLIENTS; i++) {
                SplittableRandom own = random.split();
                clients.add(threads.submit(() -> {
                    client(own);
                    return null;
                }));
            }
        }

        private void client(SplittableRandom random) throws InterruptedException {
            while (!ended) {
                String key = new UUID(random.nextLong(), random.nextLong()).toString();
                Sent result = send(port, key, random.nextInt(40));
                sent.add(result);
                if (result.answer == Answer.PLACED) {
                    enough.countDown();
                }
                if (result.answer == Answer.NOT_CONNECTED) {
                    return;
                }
            }
        }

        long count(Answer answer) {
            return sent.stream().filter(request -> request.answer == answer).count();
        }

        void end() throws Exception {
            ended = true;
            for (Future<?> client : clients) {
                client.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    private Sent send(int port, String key, int millis) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/orders?millis=" + millis))
                .timeout(PATIENCE)
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            return new Sent(
                    key,
                    answer(response),
                    response.statusCode() + " " + response.headers().map());
        } catch (ConnectException e) {
            return new Sent(key, Answer.NOT_CONNECTED, e.toString());
        } catch (IOException e) {
            return new Sent(key, Answer.BROKEN, e.toString());
        }
    }

    private static Answer answer(HttpResponse<String> response) {
        if (response.statusCode() == 201) {
            return Answer.PLACED;
        }
        boolean turnedAway = response.statusCode() == 503
                && response.headers().firstValue("Retry-After").isPresent()
                && response.headers().firstValue("Connection").orElse("").equalsIgnoreCase("close")
                && response.body().contains("\"shutting_down\"");
        return turnedAway ? Answer.TURNED_AWAY : Answer.OTHER;
    }

    private int probe(int port, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .build();
        return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    /** An order for each answer and for nothing else, and a record for each order. */
    private void assertRows(String name, Queue<Sent> sent) throws SQLException {
        Map<String, Integer> orders = new HashMap<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery("SELECT request_key FROM orders")) {
                while (rows.next()) {
                    orders.merge(rows.getString(1), 1, Integer::sum);
                }
            }
            try (ResultSet rows = statement.executeQuery("SELECT count(*) FROM idempotency_record")) {
                rows.next();
                assertThat(rows.getInt(1)).as(name + ": records").isEqualTo(orders.size());
            }
        }
        for (Sent request : sent) {
            assertThat(orders.getOrDefault(request.key, 0))
                    .as(name + ": orders of " + request)
                    .isEqualTo(request.answer == Answer.PLACED ? 1 : 0);
        }
    }
}
