package dev.idempotency.examples.chain.orders;

import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderAnswer;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.OrderRequest;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** Looks the key up, runs, and saves the response: three steps that a crash or a twin comes between. */
final class NaiveOrdersServlet extends HttpServlet {
    private final transient Jdbi jdbi;

    NaiveOrdersServlet(Jdbi jdbi) {
        this.jdbi = jdbi;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String key = request.getHeader("Idempotency-Key");
        OrderRequest order = Json.read(request.getInputStream().readAllBytes(), OrderRequest.class);

        Optional<byte[]> stored = findResponse(key);
        if (stored.isPresent()) {
            answer(response, stored.get());
            return;
        }
        // Two requests with one key that come at the same moment both get here, and both run.
        UUID orderId = UUID.randomUUID();
        placeOrder(orderId, order);
        // Killed here: the order is there, the response is not, and the repeat places a second one.
        byte[] body = Json.write(new OrderAnswer(orderId));
        saveResponse(key, body);
        answer(response, body);
    }

    private Optional<byte[]> findResponse(String key) {
        return jdbi.withHandle(handle -> handle.createQuery("SELECT body FROM naive_response WHERE request_key = :key")
                .bind("key", key)
                .mapTo(byte[].class)
                .findOne());
    }

    private void placeOrder(UUID orderId, OrderRequest order) {
        jdbi.useTransaction(handle -> {
            Orders.insert(handle, orderId, order);
            handle.createUpdate("""
                            INSERT INTO naive_outbox (event_id, order_id, payload)
                            VALUES (:eventId, :orderId, :payload)
                            """)
                    .bind("eventId", UUID.randomUUID())
                    .bind("orderId", orderId)
                    .bind(
                            "payload",
                            Json.write(new OrderPlaced(orderId, order.amountCents(), System.currentTimeMillis())))
                    .execute();
        });
    }

    private void saveResponse(String key, byte[] body) {
        jdbi.useHandle(handle ->
                handle.createUpdate("""
                        INSERT INTO naive_response (request_key, body)
                        VALUES (:key, :body)
                        ON CONFLICT DO NOTHING
                        """).bind("key", key).bind("body", body).execute());
    }

    private static void answer(HttpServletResponse response, byte[] body) throws IOException {
        response.setStatus(HttpServletResponse.SC_CREATED);
        response.setContentType("application/json");
        response.getOutputStream().write(body);
    }
}
