package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class KafkaOutboxPublisherTest {
    private static final String CLIENT = "recovering-publisher";

    /** Relays that share a publisher lose its producer together, and each asks for a new one. */
    @Test
    void recover_byManyAtOnce_leavesNoProducerBehind() throws InterruptedException {
        KafkaOutboxPublisher publisher =
                KafkaOutboxPublisher.of(Map.of("bootstrap.servers", "localhost:1", "client.id", CLIENT));
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> relays = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread relay = new Thread(() -> {
                awaitUninterruptibly(go);
                publisher.recover();
            });
            relay.start();
            relays.add(relay);
        }
        go.countDown();
        for (Thread relay : relays) {
            relay.join();
        }

        publisher.close();

        Awaitility.await()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .extracting(Thread::getName)
                        .noneMatch(name -> name.equals("kafka-producer-network-thread | " + CLIENT)));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
