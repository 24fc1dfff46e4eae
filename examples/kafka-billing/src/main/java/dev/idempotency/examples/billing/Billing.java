package dev.idempotency.examples.billing;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.event.EventContext;
import java.io.IOException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Charges an order and writes its invoice.
 *
 * <p>Called again after every failure and crash, it needs no checks of its own: the invoice is in the transaction that
 * marks the event, and the charge has a key that is derived from the event.
 */
final class Billing {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Payments payments;

    Billing(Payments payments) {
        this.payments = payments;
    }

    static void createTable(Jdbi jdbi) {
        jdbi.useHandle(handle -> handle.execute("""
                CREATE TABLE IF NOT EXISTS invoice (
                    order_id     uuid   NOT NULL,
                    charge_id    text   NOT NULL,
                    amount_cents bigint NOT NULL
                )
                """));
    }

    void bill(ConsumerRecord<String, byte[]> message, EventContext context) throws IOException, InterruptedException {
        OrderPlaced order = JSON.readValue(message.value(), OrderPlaced.class);
        String chargeId = payments.charge(order, context.derive("charge"));
        context.transaction()
                .unwrap(Handle.class)
                .createUpdate("""
                        INSERT INTO invoice (order_id, charge_id, amount_cents)
                        VALUES (:orderId, :chargeId, :amountCents)
                        """)
                .bind("orderId", order.orderId())
                .bind("chargeId", chargeId)
                .bind("amountCents", order.amountCents())
                .execute();
    }
}
