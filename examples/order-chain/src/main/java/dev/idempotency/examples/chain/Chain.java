package dev.idempotency.examples.chain;

import dev.idempotency.testkit.service.EmbeddedKafka;
import java.util.Map;

/** What is running. */
record Chain(
        PaymentProvider provider,
        Database database,
        EmbeddedKafka kafka,
        Map<ServiceName, ServiceProcess> services,
        Topic topic) {
    ServiceProcess service(ServiceName name) {
        ServiceProcess service = services.get(name);
        if (service == null) {
            throw new IllegalArgumentException("There is no " + name.label());
        }
        return service;
    }

    int crashes() {
        return services.values().stream().mapToInt(ServiceProcess::crashes).sum();
    }
}
