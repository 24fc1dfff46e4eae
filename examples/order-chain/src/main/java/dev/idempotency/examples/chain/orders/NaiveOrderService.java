package dev.idempotency.examples.chain.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.examples.chain.service.ServiceSettings;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.jdbi.v3.core.Jdbi;

/** The order service as it is often written: each part looks right, and each loses or repeats something. */
final class NaiveOrderService {
    private NaiveOrderService() {}

    static int start(ServiceSettings settings) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.jdbcUrl());
        config.setMaximumPoolSize(10);
        Jdbi jdbi = Jdbi.create(new HikariDataSource(config));

        new NaiveRelay(jdbi, settings.kafka()).start();

        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new NaiveOrdersServlet(jdbi)), "/orders");
        return Web.port(Web.start(context));
    }
}
