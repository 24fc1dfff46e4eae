package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Protection;
import dev.idempotency.RecordFormat;
import dev.idempotency.Scope;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.testkit.http.HttpAnswer;
import dev.idempotency.testkit.http.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests on a store that keeps tombstones, hashes keys and compresses answers. */
class StoredRecordsIT {
    private final RawHttp http = new RawHttp(Duration.ofSeconds(60));

    static Stream<Arguments> databases() {
        Supplier<TestDatabase> h2 = TestDatabase::h2;
        Supplier<TestDatabase> postgreSql = TestDatabase::postgreSql;
        return Stream.of(Protection.values())
                .flatMap(protection -> Stream.of(
                        Arguments.argumentSet("H2, " + protection, h2, protection),
                        Arguments.argumentSet("PostgreSQL, " + protection, postgreSql, protection)));
    }

    private OrdersService start(Supplier<TestDatabase> database, Protection protection) throws Exception {
        return new OrdersService(
                database.get(),
                JettyServer::new,
                protection,
                filter -> {},
                UnaryOperator.identity(),
                Map.of(),
                pool -> JdbiIdempotencyStore.builder(pool)
                        .tombstones(Duration.ofDays(7))
                        .build(),
                engine -> engine.records(
                        RecordFormat.ofDefaults().withHashedKeys().withCompression(0)));
    }

    private HttpAnswer post(OrdersService service, String key) throws IOException {
        return http.send("POST", service.operation(), List.of("X-User: anne", "Idempotency-Key: " + key), "{}");
    }

    @ParameterizedTest
    @MethodSource("databases")
    void repeat_withinRetentionAfterItAndAfterTheTombstone(Supplier<TestDatabase> database, Protection protection)
            throws Exception {
        try (OrdersService service = start(database, protection)) {
            String key = UUID.randomUUID().toString();
            HttpAnswer first = post(service, key);
            assertThat(first.status()).isEqualTo(201);
            HttpAnswer repeat = post(service, key);
            assertThat(repeat.status()).isEqualTo(201);
            assertThat(repeat.body()).isEqualTo(first.body());
            assertThat(repeat.header("Location")).isEqualTo(first.header("Location"));
            assertThat(service.effects()).isEqualTo(1);

            service.execute("UPDATE idempotency_record SET expires_at = expires_at - INTERVAL '2' DAY");
            HttpAnswer late = post(service, key);
            assertThat(late.status()).isEqualTo(409);
            assertThat(late.body()).contains("\"code\":\"key_expired\"", "\"retryable\":false");
            assertThat(late.header("Retry-After")).isEmpty();
            assertThat(service.effects()).isEqualTo(1);

            service.execute("UPDATE idempotency_record SET expires_at = expires_at - INTERVAL '7' DAY");
            assertThat(post(service, key).header("Idempotent-Replayed")).isEmpty();
            assertThat(service.effects()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void forget_erasesTheRecordAndFreesTheKey(Supplier<TestDatabase> database, Protection protection) throws Exception {
        try (OrdersService service = start(database, protection)) {
            String key = UUID.randomUUID().toString();
            post(service, key);
            Scope scope = Scope.ofPrincipal("anne", "POST /scripted/orders");
            assertThat(service.idempotency().forget(scope, IdempotencyKey.of(key)))
                    .isTrue();
            assertThat(service.records()).isZero();
            post(service, key);
            post(service, UUID.randomUUID().toString());
            assertThat(service.effects()).isEqualTo(3);
            assertThat(service.idempotency().forgetCaller(Scope.ofPrincipal("anne", "any")))
                    .isEqualTo(2);
            assertThat(service.records()).isZero();
        }
    }
}
