package dev.idempotency.examples.chain.billing;

import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.ConsumerId;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.KeyDerivation;
import dev.idempotency.client.CallOutcome;
import dev.idempotency.client.IdempotentHttpClient;
import dev.idempotency.client.ProviderFormat;
import dev.idempotency.event.EventContext;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.examples.chain.service.ChargeAnswer;
import dev.idempotency.examples.chain.service.ChargeRequest;
import dev.idempotency.examples.chain.service.Json;
import dev.idempotency.examples.chain.service.OrderPlaced;
import dev.idempotency.examples.chain.service.ServiceSettings;
import dev.idempotency.jdbi.JdbiEventStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.kafka.IdempotentConsumer;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.LivenessHandler;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.ReadinessHandler;
import dev.idempotency.transaction.JoiningDataSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jdbi.v3.core.Handle;

/**
 * Billing with the library: event mark, invoice and offset in one transaction, and a charge whose key is the same
 * however often the event is handled.
 */
final class GuardedBilling {
    private final IdempotentHttpClient client;
    private final URI charges;

    GuardedBilling(IdempotentHttpClient client, URI charges) {
        this.client = client;
        this.charges = charges;
    }

    /**
     * Starts the service and takes over SIGTERM.
     *
     * @return the port of the probes
     */
    static int start(ServiceSettings settings) throws IOException {
        GracefulShutdown shutdown = settings.newShutdown();
        HttpServer probes = openProbes(shutdown);
        JoiningDataSource dataSource = JoiningDataSource.of(openPool(settings, shutdown));
        GuardedBilling billing = new GuardedBilling(
                openClient(settings, shutdown), settings.provider().resolve("/charges"));
        IdempotentConsumer.<String, byte[]>builder()
                .consumer(ConsumerId.of(BillingService.GROUP))
                .topics(OrderPlaced.TOPIC)
                .properties(Map.of("bootstrap.servers", settings.kafka(), "group.instance.id", BillingService.GROUP))
                .deserializers(new StringDeserializer(), new ByteArrayDeserializer())
                .store(JdbiEventStore.of(dataSource))
                .transactions(JdbiTransactionRunner.of(dataSource))
                .keys(KeyDerivation.of("order-chain"))
                // One transaction per record: the handler calls another system, and must not do so twenty times over.
                .handler(TransactionScope.PER_EVENT, billing::bill)
                .shutdown(shutdown)
                .build()
                .start();
        shutdown.ownJvmShutdown("billing service");
        // Last: before, the service is not ready; and its thread would keep a process alive that could not start.
        probes.start();
        return probes.getAddress().getPort();
    }

    /** A consumer has no web server of its own; the JDK's is enough for its probes. */
    private static HttpServer openProbes(GracefulShutdown shutdown) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ready", ReadinessHandler.of(shutdown));
        server.createContext("/live", LivenessHandler.of(shutdown));
        // Registered first, closed last: the platform gets its answers to the end.
        shutdown.on(Phase.CLOSE, "probes", deadline -> server.stop(0));
        return server;
    }

    private static HikariDataSource openPool(ServiceSettings settings, GracefulShutdown shutdown) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.jdbcUrl());
        config.setMaximumPoolSize(4);
        HikariDataSource pool = new HikariDataSource(config);
        shutdown.on(Phase.CLOSE, "connection pool", deadline -> pool.close());
        shutdown.watch("connection pool", pool::isClosed);
        return pool;
    }

    private static IdempotentHttpClient openClient(ServiceSettings settings, GracefulShutdown shutdown) {
        HttpClient http = HttpClient.newHttpClient();
        return IdempotentHttpClient.builder(http, ProviderFormat.of("Idempotency-Key", Duration.ofHours(24)))
                .backOff(Duration.ofMillis(50), Duration.ofSeconds(1))
                .attemptTimeout(Duration.ofSeconds(2))
                // Less than the transaction may idle: the call is made inside it.
                .totalTime(Duration.ofSeconds(10))
                .clock(settings.wallClock())
                .shutdown(shutdown)
                .build();
    }

    private void bill(ConsumerRecord<String, byte[]> message, EventContext context) throws InterruptedException {
        OrderPlaced order = Json.read(message.value(), OrderPlaced.class);
        String chargeId = charge(order, context.derive("charge"));
        context.transaction()
                .unwrap(Handle.class)
                .createUpdate("""
                        INSERT INTO invoice (order_id, charge_id, amount_cents)
                        VALUES (:orderId, :chargeId, :amountCents)
                        """)
                .bind("orderId", order.orderId())
                .bind("chargeId", chargeId)
                .bind("amountCents", order.amountCents())
                .execute();
    }

    /** Charges, as often as it is called: the key is the same each time, and as old as the order. */
    String charge(OrderPlaced order, IdempotencyKey key) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(charges)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(
                        Json.write(new ChargeRequest(order.orderId(), order.amountCents()))))
                .build();
        // Not the time of this run: the key may have been used in an earlier one, and the provider forgets it.
        Instant firstUsedAt = Instant.ofEpochMilli(order.placedAtMillis());
        CallOutcome<byte[]> outcome = client.send(request, key, firstUsedAt, HttpResponse.BodyHandlers.ofByteArray());
        if (outcome instanceof CallOutcome.Answered<byte[]> answered
                && answered.response().statusCode() == 200) {
            return Json.read(answered.response().body(), ChargeAnswer.class).chargeId();
        }
        // Charged or not, nobody knows: the transaction is rolled back, and the next attempt asks with the same key,
        // until the provider may have forgotten it.
        throw new IllegalStateException("The provider gave no answer: " + outcome);
    }
}
