package dev.idempotency.shutdown;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;

/** A program with both probes, which asks itself in every phase; started and signalled by {@code ProbesIT}. */
final class ProbedProgram {
    private ProbedProgram() {}

    public static void main(String[] arguments) throws IOException {
        GracefulShutdown shutdown = GracefulShutdown.builder()
                .grace(ShutdownScenario.GRACE.multipliedBy(3))
                .build();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ready", ReadinessHandler.of(shutdown));
        server.createContext("/live", LivenessHandler.of(shutdown));
        server.start();
        int port = server.getAddress().getPort();
        shutdown.on(Phase.CLOSE, "probes", deadline -> {
            server.stop(0);
            ShutdownScenario.say("probes closed");
        });
        for (Phase phase : Phase.values()) {
            shutdown.on(
                    phase,
                    "ask",
                    deadline -> ShutdownScenario.say(
                            phase + " ready=" + status(port, "/ready") + " live=" + status(port, "/live")));
        }
        // Holds the drain until the test has asked from outside.
        ShutdownScenario.worker(shutdown, "work", () -> {
            ShutdownScenario.intakeClosed(shutdown);
            ShutdownScenario.say("DRAINING");
            ShutdownScenario.stdin();
        });
        shutdown.ownJvmShutdown("probed");
        ShutdownScenario.say("PORT " + port);
        ShutdownScenario.hang();
    }

    static int status(int port, String path) throws IOException {
        URL url = URI.create("http://127.0.0.1:" + port + path).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        connection.setConnectTimeout(2_000);
        connection.setReadTimeout(2_000);
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }
}
