package dev.idempotency.examples.chain.orders;

import dev.idempotency.OutboxEvent;
import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderAnswer;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.OrderRequest;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.servlet.IdempotentRequest;
import dev.idempotency.transaction.Transaction;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.InstantSource;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** Places an order and announces it, in the transaction that the filter has opened for the request's key. */
final class OrdersServlet extends HttpServlet {
    private final transient Jdbi jdbi;
    private final transient Outbox outbox;
    private final transient InstantSource clock;

    OrdersServlet(Jdbi jdbi, Outbox outbox, InstantSource clock) {
        this.jdbi = jdbi;
        this.outbox = outbox;
        this.clock = clock;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        OrderRequest order = Json.read(request.getInputStream().readAllBytes(), OrderRequest.class);
        UUID orderId = UUID.randomUUID();
        jdbi.useHandle(handle -> Orders.insert(handle, orderId, order));
        outbox.append(
                transaction(request),
                OutboxEvent.to(OrderPlaced.TOPIC)
                        .key(orderId.toString())
                        .type("OrderPlaced")
                        .payload(Json.write(new OrderPlaced(orderId, order.amountCents(), clock.millis())))
                        .build());
        response.setStatus(HttpServletResponse.SC_CREATED);
        response.setContentType("application/json");
        response.getOutputStream().write(Json.write(new OrderAnswer(orderId)));
    }

    private static Transaction transaction(HttpServletRequest request) {
        return IdempotentRequest.of(request)
                .flatMap(keyed -> keyed.context().transaction())
                .orElseThrow(() -> new IllegalStateException("The filter has opened no transaction for this request"));
    }
}
