package dev.idempotency.examples.chain.orders;

import dev.idempotency.examples.chain.service.Driver;
import dev.idempotency.examples.chain.service.ServiceSettings;

/** The process that takes orders and relays their events. */
public final class OrderService {
    private OrderService() {}

    /**
     * Starts the service; it ends by a signal.
     *
     * @param arguments the {@link ServiceSettings}
     * @throws Exception if it could not start
     */
    public static void main(String[] arguments) throws Exception {
        Driver.dieWithIt();
        ServiceSettings settings = ServiceSettings.fromArguments(arguments);
        int port = settings.guarded() ? GuardedOrderService.start(settings) : NaiveOrderService.start(settings);
        Driver.tellReady(port);
    }
}
