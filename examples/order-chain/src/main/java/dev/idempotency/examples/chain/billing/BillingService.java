package dev.idempotency.examples.chain.billing;

import dev.idempotency.examples.chain.service.Driver;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.io.IOException;

/** The process that charges orders. */
public final class BillingService {
    /** The consumer group, and the name under which the library remembers what it has processed. */
    public static final String GROUP = "billing";

    private BillingService() {}

    /**
     * Starts the service; it ends by a signal.
     *
     * @param arguments the {@link ServiceSettings}
     * @throws IOException if it could not start
     */
    public static void main(String[] arguments) throws IOException {
        Driver.dieWithIt();
        ServiceSettings settings = ServiceSettings.fromArguments(arguments);
        if (settings.guarded()) {
            Driver.tellReady(GuardedBilling.start(settings));
        } else {
            NaiveBilling.start(settings);
            Driver.tellReady(0);
        }
    }
}
