package dev.idempotency.examples.billing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A payment provider that remembers keys, but drops its answer to the first request of each: charged, and not told. */
final class ForgetfulProvider implements AutoCloseable {
    private final HttpServer server;
    private final Map<String, String> charges = new ConcurrentHashMap<>();
    private final AtomicInteger requests = new AtomicInteger();

    ForgetfulProvider() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/charges", this::charge);
        server.start();
    }

    private void charge(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            requests.incrementAndGet();
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            String fresh = "charge-" + (charges.size() + 1);
            String known = charges.putIfAbsent(key, fresh);
            if (known != null) {
                byte[] answer = ("{\"chargeId\":\"" + known + "\"}").getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
            }
        }
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    int charges() {
        return charges.size();
    }

    int requests() {
        return requests.get();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
