package dev.idempotency.verification.matrix;

import dev.idempotency.testkit.fault.TcpProxy;
import dev.idempotency.testkit.service.EmbeddedKafka;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One Kafka broker which all clients reach by way of a proxy, because that is the address it tells them. */
final class Broker implements AutoCloseable {
    private final EmbeddedKafka kafka;
    private final TcpProxy network;
    private final Topic topic;
    private final KafkaProducer<byte[], byte[]> producer;

    private Broker(EmbeddedKafka kafka, TcpProxy network) {
        this.kafka = kafka;
        this.network = network;
        kafka.createTopic(Topic.NAME, 1);
        this.topic = new Topic(address());
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", address()), new ByteArraySerializer(), new ByteArraySerializer());
    }

    static Broker start() {
        int port = freePort();
        EmbeddedKafka kafka = EmbeddedKafka.start(1, Map.of("advertised.listeners", "EXTERNAL://127.0.0.1:" + port));
        String address = kafka.bootstrapServers();
        int real = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
        return new Broker(kafka, TcpProxy.to(real, port));
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("No port is free", e);
        }
    }

    /** The value for {@code bootstrap.servers}. */
    String address() {
        return "127.0.0.1:" + network.port();
    }

    /** Resets all connections, and returns how many there were. */
    int cut() {
        return network.cut();
    }

    /** Makes a topic of its own for these events, and sends them. */
    void send(String name, List<String> eventIds) {
        kafka.createTopic(name, 1);
        for (String id : eventIds) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(name, id.getBytes(StandardCharsets.UTF_8));
            record.headers().add("eventId", id.getBytes(StandardCharsets.UTF_8));
            get(producer.send(record));
        }
    }

    /** The offset that is committed for the group of this name on the topic of the same name; 0 if none is. */
    long committed(String name) {
        OffsetAndMetadata offset = get(kafka.admin()
                        .listConsumerGroupOffsets(name)
                        .partitionsToOffsetAndMetadata())
                .get(new TopicPartition(name, 0));
        return offset == null ? 0 : offset.offset();
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException("The broker did not answer", e);
        }
    }

    Topic topic() {
        return topic;
    }

    @Override
    public void close() {
        producer.close(Duration.ZERO);
        topic.close();
        kafka.close();
        network.close();
    }
}
