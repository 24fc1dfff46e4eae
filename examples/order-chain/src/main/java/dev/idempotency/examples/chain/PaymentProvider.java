package dev.idempotency.examples.chain;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.idempotency.examples.chain.service.ChargeAnswer;
import dev.idempotency.examples.chain.service.ChargeRequest;
import dev.idempotency.examples.chain.service.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A payment provider as they are: it remembers keys, takes its time, and sometimes charges and then drops its answer.
 *
 * <p>Its ledger is the truth about what customers paid. It lives in the driver and is never killed.
 */
final class PaymentProvider implements AutoCloseable {
    private static final double ANSWER_DROPPED = 0.10;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Timeline timeline;
    private final long seed;
    private final Map<String, Charge> ledger = new ConcurrentHashMap<>();
    private final Set<UUID> chargedOrders = ConcurrentHashMap.newKeySet();
    private final AtomicInteger calls = new AtomicInteger();

    /** Money taken. */
    record Charge(String chargeId, String key, ChargeRequest request) {}

    private PaymentProvider(HttpServer server, Timeline timeline, long seed) {
        this.server = server;
        this.timeline = timeline;
        this.seed = seed;
    }

    static PaymentProvider start(Timeline timeline, long seed) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        PaymentProvider provider = new PaymentProvider(server, timeline, seed);
        server.createContext("/charges", provider::handle);
        server.setExecutor(provider.threads);
        server.start();
        return provider;
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    List<Charge> charges() {
        return List.copyOf(ledger.values());
    }

    /** Returns how many orders have been charged at least once. */
    int chargedOrders() {
        return chargedOrders.size();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            if (key == null) {
                exchange.sendResponseHeaders(400, -1);
                return;
            }
            SplittableRandom random = new SplittableRandom(seed + calls.incrementAndGet());
            Pause.ofMillis(random.nextLong(2, 20));
            charge(exchange, key, Json.read(body, ChargeRequest.class), random);
        }
    }

    private void charge(HttpExchange exchange, String key, ChargeRequest request, SplittableRandom random)
            throws IOException {
        Charge fresh = new Charge("charge-" + key, key, request);
        Charge known = ledger.putIfAbsent(key, fresh);
        chargedOrders.add(request.orderId());
        boolean dropped = random.nextDouble() < ANSWER_DROPPED;
        timeline.add(new Timeline.Call(request.orderId(), timeline.now(), known == null, dropped));
        Charge charge = known == null ? fresh : known;
        if (!charge.request().equals(request)) {
            exchange.sendResponseHeaders(422, -1);
            return;
        }
        Pause.ofMillis(random.nextLong(1, 10));
        if (!dropped) {
            byte[] answer = Json.write(new ChargeAnswer(charge.chargeId()));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
        // Otherwise the connection is closed: the money is taken, and the caller does not know.
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
