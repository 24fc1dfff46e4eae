package dev.idempotency.client;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A real HTTP server that remembers keys, and before that misbehaves as a script says. */
final class Provider implements AutoCloseable {
    /** What happens to one request. */
    interface Turn {
        void take(Provider provider, HttpExchange exchange, Received request) throws IOException;
    }

    /** What arrived. */
    record Received(String method, URI uri, Headers headers, String body) {
        List<String> keys() {
            return headers.getOrDefault("Idempotency-key", List.of());
        }
    }

    final List<Received> received = new CopyOnWriteArrayList<>();
    final Map<String, Integer> effectsByKey = new ConcurrentHashMap<>();
    final AtomicInteger effects = new AtomicInteger();
    private final Queue<Turn> script = new ConcurrentLinkedQueue<>();
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final HttpServer server;

    Provider() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException noPort) {
            throw new UncheckedIOException(noPort);
        }
        server.setExecutor(executor);
        server.createContext("/", this::handle);
        server.start();
    }

    Provider then(Turn turn) {
        script.add(turn);
        return this;
    }

    int port() {
        return server.getAddress().getPort();
    }

    URI uri(String path) {
        return uri(port(), path);
    }

    static URI uri(int port, String path) {
        return URI.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port + path);
    }

    /** Acts at most once per key and answers 201. */
    static void act(Provider provider, HttpExchange exchange, Received request) throws IOException {
        provider.effect(request);
        answer(exchange, 201, "charged");
    }

    static Turn actThenDrop() {
        return (provider, exchange, request) -> {
            provider.effect(request);
            exchange.close();
        };
    }

    static Turn actThenCutBody() {
        return (provider, exchange, request) -> {
            provider.effect(request);
            exchange.sendResponseHeaders(201, 100);
            exchange.getResponseBody().write("char".getBytes(StandardCharsets.US_ASCII));
            exchange.getResponseBody().flush();
            exchange.close();
        };
    }

    static Turn status(int status, String... headers) {
        return (provider, exchange, request) -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
            }
            answer(exchange, status, "status " + status);
        };
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private void effect(Received request) {
        String key = String.join("|", request.keys());
        if (key.isEmpty() || effectsByKey.merge(key, 1, Integer::sum) == 1) {
            effects.incrementAndGet();
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        Received request = new Received(
                exchange.getRequestMethod(),
                exchange.getRequestURI(),
                exchange.getRequestHeaders(),
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        received.add(request);
        Turn turn = script.poll();
        (turn == null ? (Turn) Provider::act : turn).take(this, exchange, request);
    }

    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }
}
