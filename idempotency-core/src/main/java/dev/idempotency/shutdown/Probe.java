package dev.idempotency.shutdown;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What both probes answer: a status that means something, and the state for people who look. */
final class Probe {
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int NO_BODY = -1;

    private Probe() {}

    static void answer(HttpExchange exchange, int status, State state) throws IOException {
        try (exchange) {
            switch (exchange.getRequestMethod()) {
                case "GET" -> answer(exchange, status, state.name() + "\n");
                case "HEAD" -> answer(exchange, status, "");
                default -> {
                    exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                    exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, NO_BODY);
                }
            }
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.US_ASCII);
        exchange.getResponseHeaders().set("Content-Type", "text/plain;charset=us-ascii");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.sendResponseHeaders(status, body.length == 0 ? NO_BODY : body.length);
        exchange.getResponseBody().write(body);
    }
}
