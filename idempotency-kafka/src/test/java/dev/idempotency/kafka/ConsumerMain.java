package dev.idempotency.kafka;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.testkit.process.CrashPoints;
import dev.idempotency.testkit.process.Stepped;
import dev.idempotency.transaction.TransactionLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A consumer in a process of its own, which halts or is held at the step its parent chose. */
final class ConsumerMain {
    /** The value of a record that ends the process, as an exhausted memory or a crash in native code does. */
    static final String DEADLY = "ends the process";

    static final int DEATH = 79;

    private ConsumerMain() {}

    public static void main(String[] arguments) {
        HikariDataSource dataSource = new HikariDataSource();
        dataSource.setJdbcUrl(arguments[0]);
        dataSource.setMaximumPoolSize(2);
        String topic = arguments[2];
        CrashPoints steps = CrashPoints.ofThisProcess();
        IdempotentConsumer.<String, String>builder()
                .consumer(ConsumerId.of("billing"))
                .topics(topic)
                .properties(properties(arguments))
                .deserializers(new StringDeserializer(), new StringDeserializer())
                .store(new SteppedEventStore(JdbiEventStore.of(dataSource), steps))
                .transactions(Stepped.runner(JdbiTransactionRunner.of(dataSource), "event", steps))
                .deduplication(Deduplication.valueOf(arguments[4]))
                .limits(TransactionLimits.ofDefaults().withIdle(Duration.ofMinutes(2)))
                .handler(TransactionScope.valueOf(arguments[3]), (record, context) -> {
                    Bench.effect(record, context);
                    if (record.value().equals(DEADLY)) {
                        Runtime.getRuntime().halt(DEATH);
                    }
                    steps.reached("event.effect-done");
                })
                .build()
                .start();
    }

    /** What a parent says behind the fixed arguments, as name=value, wins. */
    private static Map<String, String> properties(String[] arguments) {
        Map<String, String> properties = new HashMap<>(Map.of(
                "bootstrap.servers",
                arguments[1],
                "group.id",
                arguments[2],
                "max.poll.records",
                "5",
                "session.timeout.ms",
                "1000",
                "heartbeat.interval.ms",
                "300"));
        for (String more : List.of(arguments).subList(5, arguments.length)) {
            int equals = more.indexOf('=');
            properties.put(more.substring(0, equals), more.substring(equals + 1));
        }
        if (properties.getOrDefault("group.protocol", "classic").equals("consumer")) {
            // The broker decides.
            properties.remove("session.timeout.ms");
            properties.remove("heartbeat.interval.ms");
        }
        return properties;
    }
}
