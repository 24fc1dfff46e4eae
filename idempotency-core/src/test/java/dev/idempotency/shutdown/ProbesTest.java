package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readiness and liveness over a real HTTP server. */
@Timeout(30)
class ProbesTest {
    private final GracefulShutdown shutdown = GracefulShutdown.builder()
            .grace(Duration.ofSeconds(20))
            .closeReserve(Duration.ofSeconds(5))
            .build();
    private final HttpClient client = HttpClient.newHttpClient();
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ready", ReadinessHandler.of(shutdown));
        server.createContext("/live", LivenessHandler.of(shutdown));
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void running_bothAre200AndMayNotBeCached() throws Exception {
        for (String path : new String[] {"/ready", "/live"}) {
            HttpResponse<String> answer = send("GET", path);
            assertThat(answer.statusCode()).as(path).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("RUNNING\n");
            assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ANNOUNCE", "STOP_INTAKE", "DRAIN", "RELEASE", "CLOSE"})
    void shutdown_readinessIs503AndLivenessIs200InEveryPhase(String phase) throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        shutdown.on(Phase.valueOf(phase), "hold", deadline -> {
            reached.countDown();
            leave.await();
        });
        shutdown.shutdown(new Reason("test"));
        assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
        try {
            HttpResponse<String> ready = send("GET", "/ready");
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).isEqualTo(shutdown.state() + "\n");
            assertThat(send("GET", "/live").statusCode()).isEqualTo(200);
            assertThat(send("HEAD", "/ready").statusCode()).isEqualTo(503);
            assertThat(send("HEAD", "/live").statusCode()).isEqualTo(200);
        } finally {
            leave.countDown();
        }
    }

    @Test
    void shutdownHasReturned_readinessIs503AtOnceAlsoWithALameDuckPeriod() throws Exception {
        GracefulShutdown lame = GracefulShutdown.builder()
                .grace(Duration.ofSeconds(20))
                .lameDuck(Duration.ofSeconds(2))
                .build();
        server.createContext("/lame", ReadinessHandler.of(lame));
        lame.shutdown(new Reason("test"));
        assertThat(send("GET", "/lame").statusCode()).isEqualTo(503);
        assertThat(lame.acceptsWork()).as("work is still admitted").isTrue();
    }

    @Test
    void otherMethod_is405AndNamesTheOnesThatWork() throws Exception {
        for (String path : new String[] {"/ready", "/live"}) {
            HttpResponse<String> answer = send("POST", path);
            assertThat(answer.statusCode()).isEqualTo(405);
            assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
        }
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
