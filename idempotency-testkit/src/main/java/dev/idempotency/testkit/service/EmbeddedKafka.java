package dev.idempotency.testkit.service;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import kafka.server.BrokerServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.jspecify.annotations.Nullable;

/**
 * A real Kafka cluster (KRaft) inside this virtual machine; tests and demonstrations start it and close it.
 *
 * <p>Rebalances start at once, the shortest session and poll intervals are allowed, and both group protocols are on, so
 * that tests of them need not wait. The logs stand in a temporary folder that is deleted by {@link #close()} and at the
 * end of the virtual machine. Needs {@code org.apache.kafka:kafka-test-common-runtime} on the class path.
 *
 * <p>Safe for use by many threads, except for stopping and starting brokers.
 */
public final class EmbeddedKafka implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long LOOK_NANOS = Duration.ofMillis(10).toNanos();

    private final KafkaClusterTestKit cluster;
    private final Admin admin;
    private final short replicas;

    private EmbeddedKafka(KafkaClusterTestKit cluster, Admin admin, short replicas) {
        this.cluster = cluster;
        this.admin = admin;
        this.replicas = replicas;
    }

    /**
     * Starts one broker that is its own controller.
     *
     * @return the running cluster
     * @throws IllegalStateException if it did not start; nothing is left running
     */
    public static EmbeddedKafka start() {
        return start(1, Map.of());
    }

    /**
     * Starts one broker that is its own controller and keeps its logs in this folder, for callers who clean up even
     * when the virtual machine is killed.
     *
     * @param folder a folder that does not exist yet; {@link #close()} deletes it
     * @return the running cluster
     * @throws IllegalStateException if it did not start; nothing is left running
     */
    public static EmbeddedKafka startIn(Path folder) {
        return start(1, Map.of(), folder);
    }

    /**
     * Starts this many brokers. One is its own controller; several have one beside them, which is never stopped.
     *
     * @param brokers 1 to 5; topics are replicated on up to three of them
     * @param brokerProperties broker settings that win over those of this class
     * @return the running cluster
     * @throws IllegalStateException if it did not start; nothing is left running
     */
    public static EmbeddedKafka start(int brokers, Map<String, String> brokerProperties) {
        return start(brokers, brokerProperties, null);
    }

    private static EmbeddedKafka start(int brokers, Map<String, String> brokerProperties, @Nullable Path folder) {
        if (brokers < 1 || brokers > 5) {
            throw new IllegalArgumentException("The number of brokers must be 1 to 5, but is " + brokers);
        }
        short replicas = (short) Math.min(brokers, 3);
        KafkaClusterTestKit cluster = null;
        try {
            TestKitNodes.Builder nodes = new TestKitNodes.Builder()
                    .setCombined(brokers == 1)
                    .setNumBrokerNodes(brokers)
                    .setNumControllerNodes(1);
            if (folder != null) {
                nodes.setBaseDirectory(Files.createDirectory(folder));
            }
            KafkaClusterTestKit.Builder builder = new KafkaClusterTestKit.Builder(nodes.build());
            settings(replicas, brokerProperties).forEach(builder::setConfigProp);
            cluster = builder.build();
            formatQuietly(cluster);
            cluster.startup();
            cluster.waitForReadyBrokers();
            return new EmbeddedKafka(
                    cluster, Admin.create(Map.of("bootstrap.servers", cluster.bootstrapServers())), replicas);
        } catch (Exception e) {
            IllegalStateException failure = new IllegalStateException("The embedded Kafka cluster did not start", e);
            closeQuietly(cluster, failure);
            throw failure;
        }
    }

    private static Map<String, String> settings(short replicas, Map<String, String> overrides) {
        Map<String, String> settings = new HashMap<>();
        String minimumInSync = Integer.toString(replicas > 1 ? 2 : 1);
        settings.put("auto.create.topics.enable", "false");
        settings.put("offsets.topic.replication.factor", Short.toString(replicas));
        settings.put("offsets.topic.num.partitions", "1");
        settings.put("transaction.state.log.replication.factor", Short.toString(replicas));
        settings.put("transaction.state.log.min.isr", minimumInSync);
        settings.put("transaction.state.log.num.partitions", "1");
        settings.put("min.insync.replicas", minimumInSync);
        settings.put("group.initial.rebalance.delay.ms", "0");
        settings.put("group.min.session.timeout.ms", "500");
        settings.put("group.consumer.min.session.timeout.ms", "500");
        settings.put("group.consumer.session.timeout.ms", "3000");
        settings.put("group.consumer.min.heartbeat.interval.ms", "100");
        settings.put("group.consumer.heartbeat.interval.ms", "500");
        settings.putAll(overrides);
        return settings;
    }

    /**
     * Returns the value for {@code bootstrap.servers}.
     *
     * @return host and port of every broker, also of those that are stopped
     */
    public String bootstrapServers() {
        return cluster.bootstrapServers();
    }

    /**
     * Returns a client for the cluster's administration, closed with the cluster.
     *
     * @return the client
     */
    public Admin admin() {
        return admin;
    }

    /**
     * Creates the topic if it does not exist and returns when its leaders take records.
     *
     * @param name the topic's name
     * @param partitions how many partitions it has
     */
    public void createTopic(String name, int partitions) {
        createTopic(name, partitions, Map.of());
    }

    /**
     * Creates the topic with these settings if it does not exist.
     *
     * @param name the topic's name
     * @param partitions how many partitions it has
     * @param settings the topic's settings, for instance {@code retention.ms}
     */
    public void createTopic(String name, int partitions, Map<String, String> settings) {
        NewTopic topic = new NewTopic(name, partitions, replicas).configs(settings);
        try {
            admin.createTopics(List.of(topic)).all().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            awaitLeaders(name, partitions);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw new IllegalStateException("The topic " + name + " could not be created", e.getCause());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while creating the topic " + name, e);
        } catch (TimeoutException e) {
            throw new IllegalStateException("The topic " + name + " was not created within " + PATIENCE, e);
        }
    }

    /**
     * Asks each leader something that only a leader answers. The answer to the creation comes from the controller, and a
     * broker names itself a leader a moment before it is one: a pipelined producer that writes in this moment may have
     * its first batch refused and its second one accepted, and then the first is out of order until it expires.
     */
    private void awaitLeaders(String topic, int partitions)
            throws ExecutionException, InterruptedException, TimeoutException {
        Map<TopicPartition, OffsetSpec> questions = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            questions.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                // First the topic: the other question would log an error if it is not known yet.
                admin.describeTopics(List.of(topic)).allTopicNames().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                admin.listOffsets(questions).all().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (ExecutionException e) {
                // The client asks again if a leader is not ready, but not if a broker has not heard of the topic yet.
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException) || System.nanoTime() - end > 0) {
                    throw e;
                }
                LockSupport.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /**
     * Returns the brokers' ids.
     *
     * @return the ids, also of those that are stopped
     */
    public Set<Integer> brokers() {
        return Set.copyOf(cluster.brokers().keySet());
    }

    /**
     * Stops one broker and returns when it is down; clients see their connections break.
     *
     * @param id the broker's id
     */
    public void stopBroker(int id) {
        BrokerServer broker = broker(id);
        broker.shutdown();
        broker.awaitShutdown();
    }

    /**
     * Starts a stopped broker again, at the same address and with the same logs.
     *
     * @param id the broker's id
     */
    public void startBroker(int id) {
        broker(id).startup();
    }

    private BrokerServer broker(int id) {
        BrokerServer broker = cluster.brokers().get(id);
        if (broker == null) {
            throw new IllegalArgumentException("There is no broker " + id + ", there are " + brokers());
        }
        return broker;
    }

    /** Stops the cluster and deletes its logs; a second call does nothing. */
    @Override
    public void close() {
        admin.close(Duration.ZERO);
        try {
            cluster.close();
        } catch (Exception e) {
            throw new IllegalStateException("The embedded Kafka cluster did not stop cleanly", e);
        }
    }

    /** The kit writes a diary of the formatting to standard output, which belongs to whoever starts the cluster. */
    private static void formatQuietly(KafkaClusterTestKit cluster) throws Exception {
        PrintStream output = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
        try {
            cluster.format();
        } finally {
            System.setOut(output);
        }
    }

    private static void closeQuietly(@Nullable KafkaClusterTestKit cluster, Exception failure) {
        if (cluster == null) {
            return;
        }
        try {
            cluster.close();
        } catch (Exception e) {
            failure.addSuppressed(e);
        }
    }
}
