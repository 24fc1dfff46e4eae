package dev.idempotency.examples.chain;

import dev.idempotency.testkit.service.EmbeddedKafka;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** Stops the broker and starts it again. */
final class BrokerTrouble extends Trouble {
    private final EmbeddedKafka kafka;
    private final Timeline timeline;

    BrokerTrouble(EmbeddedKafka kafka, Timeline timeline, BooleanSupplier over, SplittableRandom random) {
        super(over, random, 10_000, 30_000);
        this.kafka = kafka;
        this.timeline = timeline;
    }

    @Override
    void strike(SplittableRandom chance) {
        long from = timeline.now();
        int broker = kafka.brokers().iterator().next();
        kafka.stopBroker(broker);
        Pause.ofMillis(chance.nextLong(4_000));
        kafka.startBroker(broker);
        timeline.add(new Timeline.Incident(Fault.BROKER, "the broker was restarted", from, timeline.now()));
    }
}
