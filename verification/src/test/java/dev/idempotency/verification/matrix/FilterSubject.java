package dev.idempotency.verification.matrix;

import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.Protection;
import dev.idempotency.servlet.IdempotencyFilter;
import dev.idempotency.servlet.IdempotentRequest;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.testkit.process.Steps;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The same operation behind the servlet filter, in Jetty, called over HTTP. */
final class FilterSubject extends OperationSubject {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    FilterSubject(Protection protection, Dialect dialect) {
        super("filter", protection, AbandonedPolicy.REPORT_UNKNOWN, dialect);
    }

    @Override
    Set<String> usualSteps(Crash crash) {
        if (crash == Crash.STOP) {
            return Set.of();
        }
        return crash == Crash.HALT
                ? Set.of(isTransactional() ? "operation.committed" : "operation.completed")
                : Set.of("operation.claiming", "work.done", "operation.committing", "operation.effect-done");
    }

    @Override
    Service serve(Site site, Steps steps, Mutant mutant) throws Exception {
        Idempotency idempotency = engine(site, steps, mutant);
        Work work = new Work(site, steps, mutant, Work.Habit.GOOD);
        Server server = new Server(new QueuedThreadPool(16));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        context.addFilter(
                new FilterHolder(IdempotencyFilter.builder(idempotency)
                        .protection(protection())
                        .build()),
                "/*",
                EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new Orders(work)), "/orders");
        server.setHandler(context);
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/orders");
        return new Over(uri, server, idempotency);
    }

    private static final class Orders extends HttpServlet {
        private static final long serialVersionUID = 1;
        private final transient Work work;

        Orders(Work work) {
            this.work = work;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            String key = request.getHeader("Idempotency-Key");
            IdempotencyContext context =
                    IdempotentRequest.of(request).orElseThrow().context();
            try {
                work.run(key, context);
            } catch (SQLException e) {
                throw new ServletException(e);
            }
            response.setStatus(201);
            response.getWriter().print(key);
        }
    }

    /** The service with its client. */
    private record Over(URI uri, Server server, Idempotency idempotency, HttpClient client) implements Service {
        Over(URI uri, Server server, Idempotency idempotency) {
            this(uri, server, idempotency, HttpClient.newHttpClient());
        }

        @Override
        public Reply call(String key) throws Exception {
            HttpRequest request = HttpRequest.newBuilder(uri)
                    .timeout(PATIENCE)
                    .header("Idempotency-Key", key)
                    .POST(HttpRequest.BodyPublishers.ofString(key))
                    .build();
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            String text = response.statusCode() + " "
                    + response.body().lines().findFirst().orElse("");
            if (response.statusCode() == 201) {
                return response.headers().firstValue("Idempotent-Replayed").isPresent()
                        ? new Reply(Reply.Kind.REPLAYED, text)
                        : new Reply(Reply.Kind.EXECUTED, text);
            }
            boolean retryable = response.statusCode() >= 500 || response.body().contains("\"retryable\":true");
            return retryable ? Reply.again(text) : new Reply(Reply.Kind.REFUSED, text);
        }

        @Override
        public void close() {
            try {
                server.stop();
            } catch (Exception e) {
                throw new IllegalStateException("Jetty did not stop", e);
            }
            idempotency.close();
        }
    }
}
