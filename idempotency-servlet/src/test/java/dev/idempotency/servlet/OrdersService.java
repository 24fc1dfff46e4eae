package dev.idempotency.servlet;

import dev.idempotency.Idempotency;
import dev.idempotency.Protection;
import dev.idempotency.jdbi.JdbiIdempotencyStore;
import dev.idempotency.jdbi.JdbiTransactionRunner;
import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.testkit.http.ServiceUnderTest;
import dev.idempotency.transaction.JoiningDataSource;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** An order service on a real container and a real database; tests add what else it is to do. */
final class OrdersService implements ServiceUnderTest, AutoCloseable {
    private final TestDatabase database;
    private final DataSource joining;
    private final Idempotency idempotency;
    private final GracefulShutdown shutdown = GracefulShutdown.ofDefaults();
    private final ScriptedServlet scripted = new ScriptedServlet();
    private final ServletServer server;

    OrdersService(TestDatabase database, ServletServer.Starter container, Protection protection) throws Exception {
        this(database, container, protection, builder -> {}, UnaryOperator.identity(), Map.of());
    }

    OrdersService(
            TestDatabase database,
            ServletServer.Starter container,
            Protection protection,
            Consumer<IdempotencyFilterBuilder> options,
            UnaryOperator<Filter> wrapper,
            Map<String, Servlet> servlets)
            throws Exception {
        this(
                database,
                container,
                protection,
                options,
                wrapper,
                servlets,
                JdbiIdempotencyStore::of,
                UnaryOperator.identity());
    }

    OrdersService(
            TestDatabase database,
            ServletServer.Starter container,
            Protection protection,
            Consumer<IdempotencyFilterBuilder> options,
            UnaryOperator<Filter> wrapper,
            Map<String, Servlet> servlets,
            Function<DataSource, JdbiIdempotencyStore> stores,
            UnaryOperator<Idempotency.Builder> engine)
            throws Exception {
        this.database = database;
        SchemaInstaller.of(database.pool()).install();
        execute("CREATE TABLE IF NOT EXISTS orders (id varchar(36) PRIMARY KEY, path varchar(200) NOT NULL)");
        JoiningDataSource joiningPool = JoiningDataSource.of(database.pool());
        this.joining = joiningPool;
        JdbiIdempotencyStore store = stores.apply(database.pool());
        idempotency = engine.apply(Idempotency.builder()
                        .transactional(store, JdbiTransactionRunner.of(joiningPool))
                        .leased(store)
                        .shutdown(shutdown))
                .build();
        IdempotencyFilterBuilder builder = IdempotencyFilter.builder(idempotency)
                .protection(protection)
                .requestLimits(TestLimits.REQUEST)
                .responseLimits(TestLimits.RESPONSE)
                .replayLimit(TestLimits.REPLAY);
        options.accept(builder);
        Filter filter = builder.build();
        scripted.on("orders", this::order);
        Map<String, Servlet> all = new LinkedHashMap<>(servlets);
        all.put("/scripted/*", scripted);
        server = container.start(List.of(new UserFilter(), wrapper.apply(filter)), all);
    }

    private void order(HttpServletRequest request, HttpServletResponse response) throws IOException, SQLException {
        String body = new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (body.equals(refusedBody())) {
            response.setStatus(422);
            response.getWriter().print("{\"error\":\"no such article\"}");
            return;
        }
        String id = insert(request);
        response.addCookie(new Cookie("session", id));
        response.setHeader("Location", "/orders/" + id);
        response.setStatus(201);
        response.setContentType("application/json");
        response.getWriter().print("{\"order\":\"" + id + "\",\"bytes\":" + body.length() + "}");
    }

    /** The effect: an order, in the transaction of the request if it has one. */
    String insert(HttpServletRequest request) throws SQLException {
        String id = UUID.randomUUID().toString();
        try (Connection connection = joining.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("INSERT INTO orders (id, path) VALUES (?, ?)")) {
            statement.setString(1, id);
            statement.setString(2, request.getRequestURI());
            statement.executeUpdate();
        }
        return id;
    }

    void on(String name, Handler handler) {
        scripted.on(name, handler);
    }

    URI uri(String name) {
        return server.uri("/scripted/" + name);
    }

    URI at(String path) {
        return server.uri(path);
    }

    TestDatabase database() {
        return database;
    }

    GracefulShutdown shutdown() {
        return shutdown;
    }

    @Override
    public URI operation() {
        return uri("orders");
    }

    @Override
    public String body(int number) {
        return "{\"article\":" + number + "}";
    }

    @Override
    public String refusedBody() {
        return "{\"article\":\"none\"}";
    }

    @Override
    public List<String> otherCaller() {
        return List.of("X-User: somebody else");
    }

    @Override
    public String contentType() {
        return "application/json";
    }

    @Override
    public long effects() {
        return count("SELECT count(*) FROM orders");
    }

    /** The effects of the handler with this name. */
    long effects(String name) {
        return count("SELECT count(*) FROM orders WHERE path = '/scripted/" + name + "'");
    }

    long records() {
        return count("SELECT count(*) FROM idempotency_record");
    }

    /** The records of operations on this path. */
    long records(String path) {
        return count("SELECT count(*) FROM idempotency_record WHERE operation LIKE '%" + path + "'");
    }

    private long count(String sql) {
        try (Connection connection = database.pool().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = database.pool().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The joining data source, as application code knows it. */
    DataSource dataSource() {
        return joining;
    }

    Idempotency idempotency() {
        return idempotency;
    }

    @Override
    public void close() throws Exception {
        server.close();
        idempotency.close();
        database.close();
    }
}
