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
public final class Provider implements AutoCloseable {
    /** What happens to one request. */
    public interface Turn {
        void take(Provider provider, HttpExchange exchange, Received request) throws IOException;
    }

    /** What arrived. */
    public record Received(String method, URI uri, Headers headers, String body) {
        public List<String> keys() {
            return headers.getOrDefault("Idempotency-key", List.of());
        }
    }

    public final List<Received> received = new CopyOnWriteArrayList<>();
    public final Map<String, Integer> effectsByKey = new ConcurrentHashMap<>();
    public final AtomicInteger effects = new AtomicInteger();
    private final Queue<Turn> script = new ConcurrentLinkedQueue<>();
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final HttpServer server;

    public Provider() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException noPort) {
            throw new UncheckedIOException(noPort);
        }
        server.setExecutor(executor);
        server.createContext("/", this::handle);
        server.start();
    }

    public Provider then(Turn turn) {
        script.add(turn);
        return this;
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public URI uri(String path) {
        return uri(port(), path);
    }

    public static URI uri(int port, String path) {
        return URI.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port + path);
    }

    /** Acts at most once per key and answers 201. */
    public static void act(Provider provider, HttpExchange exchange, Received request) throws IOException {
        provider.effect(request);
        answer(exchange, 201, "charged");
    }

    public static Turn actThenDrop() {
        return (provider, exchange, request) -> {
            provider.effect(request);
            exchange.close();
        };
    }

    public static Turn actThenCutBody() {
        return (provider, exchange, request) -> {
            provider.effect(request);
            exchange.sendResponseHeaders(201, 100);
            exchange.getResponseBody().write("char".getBytes(StandardCharsets.US_ASCII));
            exchange.getResponseBody().flush();
            exchange.close();
        };
    }

    public static Turn status(int status, String... headers) {
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
