package dev.idempotency.examples.chain.orders;

import dev.idempotency.examples.chain.service.OrderRequest;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** The business rows. */
final class Orders {
    private Orders() {}

    static void insert(Handle handle, UUID orderId, OrderRequest order) {
        handle.createUpdate("""
                        INSERT INTO purchase_order (order_id, intent, customer, amount_cents)
                        VALUES (:orderId, :intent, :customer, :amountCents)
                        """)
                .bind("orderId", orderId)
                .bind("intent", order.intent())
                .bind("customer", order.customer())
                .bind("amountCents", order.amountCents())
                .execute();
    }
}
