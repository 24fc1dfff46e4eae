package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Database.OrderRow;
import java.time.Duration;
import java.util.List;

/**
 * Waits for the chain to come to rest: every order announced, every message processed.
 *
 * <p>It asks the database, the broker and the ledger, and no service. A chain that has lost something never gets there;
 * it is given up when nothing has changed for a while.
 */
final class Settlement {
    private static final Duration WITHOUT_CHANGE = Duration.ofSeconds(20);

    private final Database database;
    private final Topic topic;
    private final PaymentProvider provider;
    private State last = new State(-1, -1, -1, -1, -1);
    private long lastChange = System.nanoTime();
    private boolean reached;

    private record State(int orders, int messages, long lag, int charges, int invoices) {}

    Settlement(Database database, Topic topic, PaymentProvider provider) {
        this.database = database;
        this.topic = topic;
        this.provider = provider;
    }

    boolean reached() {
        return reached;
    }

    /** Looks once. */
    void look() {
        topic.read();
        List<OrderRow> orders = database.orders();
        State state = new State(
                orders.size(),
                topic.messages(),
                topic.lag(),
                provider.charges().size(),
                database.invoicedOrders().size());
        boolean changed = !state.equals(last);
        if (changed) {
            last = state;
            lastChange = System.nanoTime();
        }
        boolean allAnnounced = orders.stream().map(OrderRow::orderId).allMatch(topic.announcedOrders()::contains);
        // Twice the same, because an effect may come after the offset in the naive forms.
        boolean atRest = allAnnounced && state.lag() == 0 && !changed;
        reached = atRest || System.nanoTime() - lastChange > WITHOUT_CHANGE.toNanos();
    }
}
