package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.billing.BillingService;
import dev.idempotency.examples.chain.orders.OrderService;

/** The services that run as child processes. */
enum ServiceName {
    ORDERS("order service", OrderService.class),
    BILLING("billing service", BillingService.class);

    private final String label;
    private final Class<?> mainClass;

    ServiceName(String label, Class<?> mainClass) {
        this.label = label;
        this.mainClass = mainClass;
    }

    String label() {
        return label;
    }

    Class<?> mainClass() {
        return mainClass;
    }
}
