package dev.idempotency.benchmarks.http;

import dev.idempotency.benchmarks.database.BenchDatabase;
import dev.idempotency.benchmarks.database.BenchServer;
import dev.idempotency.benchmarks.database.CountingDataSource;
import dev.idempotency.benchmarks.harness.Contest;
import dev.idempotency.benchmarks.harness.Figure;
import dev.idempotency.benchmarks.harness.Form;
import dev.idempotency.benchmarks.harness.Harness;
import dev.idempotency.benchmarks.harness.Load;
import dev.idempotency.benchmarks.harness.Metric;
import dev.idempotency.benchmarks.harness.Sample;
import dev.idempotency.benchmarks.harness.Settings;
import dev.idempotency.benchmarks.harness.Suite;
import dev.idempotency.benchmarks.harness.Target;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.util.Jetty;

/** The filter on Jetty: what a request under a key costs, and how soon a repeat is answered. */
public final class HttpSuite implements Suite {
    private static final Metric REQUESTS = Metric.rate("requests");
    private static final Metric EXECUTIONS = new Metric("executions on the database", "executions/request");
    private static final Metric COMMITS = new Metric("commits", "commits/request");
    private static final Metric TIME = new Metric("time to the answer, median", "ms");
    private static final Metric LONGEST = new Metric("time to the answer, longest", "ms");

    private static final int KEYS = 1_000;

    @Override
    public String name() {
        return "http";
    }

    @Override
    public void run(Harness harness) throws Exception {
        try (BenchServer postgreSql = BenchServer.start(harness);
                BenchDatabase database = postgreSql.createDatabase();
                OrdersServer server = new OrdersServer(database.pool())) {
            harness.note("Jetty", Jetty.VERSION + ", in this virtual machine, as are the clients");
            OrdersClient client = new OrdersClient();
            throughput(harness, server, client);
            executions(harness, server, client);
            duplicates(harness, server, client);
        }
    }

    private static void throughput(Harness harness, OrdersServer server, OrdersClient client) throws Exception {
        Settings settings = harness.settings();
        URI bare = server.uri(OrdersServer.BARE);
        URI guarded = server.uri(OrdersServer.GUARDED);
        List<String> keys = new ArrayList<>();
        if (harness.wants("requests")) {
            for (int i = 0; i < settings.size(KEYS, KEYS / 10); i++) {
                keys.add(client.newKey());
                client.place(guarded, keys.get(i));
            }
        }
        AtomicInteger next = new AtomicInteger();
        harness.run(new Contest(
                "requests",
                List.of(
                        new Form("own transaction", () -> rate(settings, () -> client.place(bare, client.newKey()))),
                        new Form(
                                "behind the filter, new keys",
                                () -> rate(settings, () -> client.place(guarded, client.newKey()))),
                        new Form(
                                "behind the filter, repeats",
                                () -> rate(
                                        settings,
                                        () -> replay(
                                                client,
                                                guarded,
                                                keys.get(Math.floorMod(next.getAndIncrement(), keys.size())))))),
                List.of(
                        Figure.against("behind the filter, new keys", "own transaction", REQUESTS),
                        Figure.against("behind the filter, repeats", "own transaction", REQUESTS))));
    }

    private static Sample rate(Settings settings, Load.Step step) throws Exception {
        return Sample.of(REQUESTS, Load.perSecond(settings, step));
    }

    private static void replay(OrdersClient client, URI uri, String key) throws Exception {
        HttpResponse<String> response = client.place(uri, key);
        if (response.headers().firstValue("Idempotent-Replayed").isEmpty()) {
            throw new IllegalStateException("A repeat was to be replayed, but the work ran again");
        }
    }

    private static void executions(Harness harness, OrdersServer server, OrdersClient client) throws Exception {
        int requests = harness.settings().size(200, 20);
        URI uri = server.uri(OrdersServer.COUNTED);
        CountingDataSource counter = server.counter();
        String known = client.newKey();
        if (harness.wants("round trips")) {
            client.place(uri, known);
        }
        // The servlet's own insert is one of them.
        harness.run(new Contest(
                "round trips",
                List.of(
                        new Form("new key", () -> count(counter, requests, () -> client.place(uri, client.newKey()))),
                        new Form("repeat", () -> count(counter, requests, () -> replay(client, uri, known)))),
                List.of(
                        Figure.alone("new key", EXECUTIONS).target(Target.valueAtMost(3)),
                        Figure.alone("new key", COMMITS).target(Target.valueAtMost(1)),
                        Figure.alone("repeat", EXECUTIONS).target(Target.valueAtMost(1)),
                        Figure.alone("repeat", COMMITS))));
    }

    private static Sample count(CountingDataSource counter, int requests, Load.Step request) throws Exception {
        long executions = counter.executions();
        long commits = counter.commits();
        for (int i = 0; i < requests; i++) {
            request.run();
        }
        return Sample.of(EXECUTIONS, (double) (counter.executions() - executions) / requests)
                .and(COMMITS, (double) (counter.commits() - commits) / requests);
    }

    private static void duplicates(Harness harness, OrdersServer server, OrdersClient client) throws Exception {
        int seconds = harness.settings().size(10, 1);
        harness.run(new Contest(
                "duplicate of a request of " + seconds + " s that runs",
                List.of(new Form("refused", () -> refuse(server, client, Duration.ofSeconds(seconds)))),
                List.of(
                        Figure.alone("refused", TIME).target(Target.valueAtMost(100)),
                        Figure.alone("refused", LONGEST).target(Target.valueAtMost(100)))));
    }

    private static Sample refuse(OrdersServer server, OrdersClient client, Duration length) throws Exception {
        URI uri = server.uri(OrdersServer.GUARDED);
        SlowRequest slow = new SlowRequest(length);
        server.expectSlow(slow);
        String key = client.newKey();
        CompletableFuture<HttpResponse<String>> original = client.beginSlow(uri, key);
        slow.awaitBegun();
        List<Double> times = new ArrayList<>();
        long end = System.nanoTime() + length.toNanos() / 2;
        while (System.nanoTime() < end) {
            long begin = System.nanoTime();
            int status = client.send(uri, key).statusCode();
            times.add((System.nanoTime() - begin) / 1e6);
            if (status != 409 || original.isDone()) {
                throw new IllegalStateException("A duplicate of a running request was to get 409, but got " + status);
            }
        }
        if (original.join().statusCode() != 201) {
            throw new IllegalStateException("The slow request itself was to succeed, but got "
                    + original.join().statusCode());
        }
        times.sort(Double::compare);
        return Sample.of(TIME, times.get(times.size() / 2)).and(LONGEST, times.get(times.size() - 1));
    }
}
