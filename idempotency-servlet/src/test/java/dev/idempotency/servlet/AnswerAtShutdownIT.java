package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Protection;
import dev.idempotency.shutdown.Phase;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.shutdown.ShutdownReport;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request is in flight until its answer has left, not only until its work is committed. */
@Timeout(120)
class AnswerAtShutdownIT {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    /** More than the buffers between a server and a client that does not read. */
    private static final int LARGE = 24 << 20;

    @ParameterizedTest
    @EnumSource(Protection.class)
    void shutdown_answerIsBeingWritten_drainWaitsForIt(Protection protection) throws Exception {
        try (OrdersService service = service(protection)) {
            service.on("large", (request, response) -> {
                response.setStatus(201);
                response.getOutputStream().write(new byte[LARGE]);
            });
            assertDrainWaitsForTheAnswer(service, "large");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "async")
    void shutdown_answerOfAnotherThreadIsBeingWritten_drainWaitsForIt(String name) throws Exception {
        try (OrdersService service = service(Protection.LEASED)) {
            service.on(name, (request, response) -> {
                var async = request.startAsync();
                new Thread(() -> {
                            try {
                                async.getResponse().getOutputStream().write(new byte[LARGE]);
                                async.complete();
                            } catch (java.io.IOException e) {
                                throw new java.io.UncheckedIOException(e);
                            }
                        })
                        .start();
            });
            assertDrainWaitsForTheAnswer(service, name);
        }
    }

    private static OrdersService service(Protection protection) throws Exception {
        return new OrdersService(
                TestDatabase.h2(),
                JettyServer::new,
                protection,
                builder -> builder.responseLimits(new BufferLimits(1 << 16, 2L * LARGE)),
                UnaryOperator.identity(),
                Map.of());
    }

    private static void assertDrainWaitsForTheAnswer(OrdersService service, String name) throws Exception {
        CountDownLatch drained = new CountDownLatch(1);
        service.shutdown().on(Phase.RELEASE, "drained", deadline -> drained.countDown());
        URI uri = service.uri(name);
        try (Socket client = new Socket(uri.getHost(), uri.getPort())) {
            client.getOutputStream()
                    .write(("POST " + uri.getPath() + " HTTP/1.1\r\nHost: test\r\nIdempotency-Key: one\r\n"
                                    + "Content-Length: 0\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream answer = client.getInputStream();
            // The first byte comes after the commit; the others do not fit into the buffers.
            assertThat(answer.read()).isEqualTo('H');

            CompletableFuture<ShutdownReport> end =
                    service.shutdown().shutdown(new Reason("test")).toCompletableFuture();

            assertThat(drained.await(500, TimeUnit.MILLISECONDS))
                    .as("drained while a client waits for its answer")
                    .isFalse();
            assertThat(answer.readAllBytes()).hasSizeGreaterThan(LARGE);
            assertThat(end.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).clean()).isTrue();
            Awaitility.await()
                    .atMost(DEADLINE)
                    .until(() -> service.shutdown().inFlight().active() == 0);
        }
    }
}
