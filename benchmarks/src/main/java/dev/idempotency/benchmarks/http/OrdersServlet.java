package dev.idempotency.benchmarks.http;

import dev.idempotency.benchmarks.database.Effects;
import dev.idempotency.benchmarks.database.TimeOrderedIds;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Places an order: one insert, and an answer of some hundred bytes. */
final class OrdersServlet extends HttpServlet {
    /** The header of requests that are to take long. */
    static final String SLOW = "X-Slow";

    private final transient TimeOrderedIds ids = new TimeOrderedIds();
    private final transient DataSource dataSource;
    private final boolean ownTransaction;
    private final transient Supplier<SlowRequest> slow;

    /**
     * Makes the servlet.
     *
     * @param ownTransaction true to begin and commit itself, false to work in the transaction that there is
     * @param slow what a slow request does meanwhile
     */
    OrdersServlet(DataSource dataSource, boolean ownTransaction, Supplier<SlowRequest> slow) {
        this.dataSource = dataSource;
        this.ownTransaction = ownTransaction;
        this.slow = slow;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        byte[] body = request.getInputStream().readAllBytes();
        UUID orderId = ids.next();
        try {
            insert(orderId);
            if (request.getHeader(SLOW) != null) {
                slow.get().work();
            }
        } catch (SQLException e) {
            throw new ServletException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServletException(e);
        }
        response.setStatus(HttpServletResponse.SC_CREATED);
        response.setContentType("application/json");
        response.getOutputStream()
                .write(("{\"orderId\":\"" + orderId + "\",\"request\":" + new String(body, StandardCharsets.UTF_8)
                                + "}")
                        .getBytes(StandardCharsets.UTF_8));
    }

    private void insert(UUID orderId) throws SQLException {
        if (ownTransaction) {
            Effects.inBareTransaction(dataSource, connection -> Effects.insert(connection, orderId));
        } else {
            try (Connection connection = dataSource.getConnection()) {
                Effects.insert(connection, orderId);
            }
        }
    }
}
