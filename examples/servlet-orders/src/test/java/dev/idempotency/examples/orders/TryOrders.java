package dev.idempotency.examples.orders;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Reason;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** Runs the application on an embedded database, sends it a few requests and shows what it answers. */
final class TryOrders {
    private static final String BOOK = "{\"item\":\"book\",\"quantity\":1}";
    private static final String TWO_BOOKS = "{\"item\":\"book\",\"quantity\":2}";

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI orders;

    private TryOrders(int port) {
        this.orders = URI.create("http://127.0.0.1:" + port + "/orders");
    }

    public static void main(String[] arguments) throws Exception {
        GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
        try (EmbeddedPostgreSql server = EmbeddedPostgreSql.start(Map.of());
                PostgreSqlDatabase database = server.createDatabase()) {
            OrdersApplication application = OrdersApplication.start(database.url(), 0, shutdown);
            new TryOrders(application.port()).sendAll();
            int rows = Jdbi.create(database.dataSource())
                    .withHandle(handle -> handle.createQuery("SELECT count(*) FROM purchase_order")
                            .mapTo(Integer.class)
                            .one());
            System.out.println("orders in the database: " + rows);
            shutdown.shutdown(new Reason("the example is over"))
                    .toCompletableFuture()
                    .join();
        }
    }

    private void sendAll() throws Exception {
        show("a first order", send("key-1", BOOK).get());
        show("the same again", send("key-1", BOOK).get());
        show("the same key for another order", send("key-1", TWO_BOOKS).get());
        show("without a key", send(null, BOOK).get());
        List<CompletableFuture<HttpResponse<String>>> twins = List.of(send("key-2", BOOK), send("key-2", BOOK));
        show("two at the same moment: one", twins.get(0).get());
        show("two at the same moment: the other", twins.get(1).get());
        show("the other, later", send("key-2", BOOK).get());
    }

    private CompletableFuture<HttpResponse<String>> send(@Nullable String key, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(orders)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (key != null) {
            request.header("Idempotency-Key", key);
        }
        return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void show(String what, HttpResponse<String> response) {
        boolean replayed = response.headers().firstValue("Idempotent-Replayed").isPresent();
        System.out.printf(
                "%-35s %d%s %s%n", what, response.statusCode(), replayed ? " (replayed)" : "", response.body());
    }
}
