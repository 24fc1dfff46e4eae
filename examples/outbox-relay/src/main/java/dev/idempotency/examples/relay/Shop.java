package dev.idempotency.examples.relay;

import dev.idempotency.OutboxEvent;
import dev.idempotency.outbox.Outbox;
import dev.idempotency.transaction.TransactionLimits;
import dev.idempotency.transaction.TransactionRunner;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The application: it places orders, and writes each order's event into the same transaction. */
final class Shop {
    static final String TOPIC = "orders.placed";

    private final TransactionRunner transactions;
    private final Outbox outbox;

    Shop(TransactionRunner transactions, Outbox outbox) {
        this.transactions = transactions;
        this.outbox = outbox;
    }

    static void createTable(Jdbi jdbi) {
        jdbi.useHandle(handle -> handle.execute("""
                CREATE TABLE IF NOT EXISTS purchase_order (
                    order_id uuid PRIMARY KEY,
                    item     text NOT NULL CHECK (item <> '')
                )
                """));
    }

    /**
     * Places an order.
     *
     * @param item what is ordered; an empty one is refused by the table, and then there is no event either
     * @return the order's id
     */
    UUID order(String item) {
        UUID orderId = UUID.randomUUID();
        transactions.run(TransactionLimits.ofDefaults(), transaction -> {
            // The event first, to show that the order of the two does not matter: they commit together or not at all.
            outbox.append(
                    transaction,
                    OutboxEvent.to(TOPIC)
                            .key(orderId.toString())
                            .type("OrderPlaced")
                            .payload(orderId + " " + item)
                            .build());
            transaction
                    .unwrap(Handle.class)
                    .createUpdate("INSERT INTO purchase_order (order_id, item) VALUES (:orderId, :item)")
                    .bind("orderId", orderId)
                    .bind("item", item)
                    .execute();
            return orderId;
        });
        return orderId;
    }
}
