package dev.idempotency.examples.orders;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/**
 * Places an order and answers with its id.
 *
 * <p>Nothing here knows of keys: the filter runs this servlet once per key, in one transaction with the record of the
 * answer, and gives repeats the first answer.
 */
final class OrdersServlet extends HttpServlet {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final transient Jdbi jdbi;

    OrdersServlet(Jdbi jdbi) {
        this.jdbi = jdbi;
    }

    /** The body of a request. */
    record Order(String item, int quantity) {}

    /** The body of an answer. */
    record Placed(UUID orderId) {}

    static void createTable(Jdbi jdbi) {
        jdbi.useHandle(handle -> handle.execute("""
                CREATE TABLE IF NOT EXISTS purchase_order (
                    order_id uuid    PRIMARY KEY,
                    item     text    NOT NULL,
                    quantity integer NOT NULL
                )
                """));
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Order order = JSON.readValue(request.getInputStream(), Order.class);
        UUID orderId = UUID.randomUUID();
        // No begin and no commit: the transaction is the filter's, and this handle is in it.
        jdbi.useHandle(handle -> handle.createUpdate("""
                        INSERT INTO purchase_order (order_id, item, quantity)
                        VALUES (:orderId, :item, :quantity)
                        """)
                .bind("orderId", orderId)
                .bind("item", order.item())
                .bind("quantity", order.quantity())
                .execute());
        response.setStatus(HttpServletResponse.SC_CREATED);
        response.setContentType("application/json");
        JSON.writeValue(response.getOutputStream(), new Placed(orderId));
    }
}
