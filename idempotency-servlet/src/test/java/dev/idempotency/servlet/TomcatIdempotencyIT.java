package dev.idempotency.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;

/** The filter on Tomcat 11. */
class TomcatIdempotencyIT {
    @Nested
    class TransactionalOnH2 extends TransactionalBehaviour {
        @Override
        ServletServer start(List<Filter> filters, Map<String, Servlet> servlets) throws Exception {
            return new TomcatServer(filters, servlets);
        }

        @Override
        TestDatabase database() {
            return TestDatabase.h2();
        }
    }

    @Nested
    class TransactionalOnPostgreSql extends TransactionalBehaviour {
        @Override
        ServletServer start(List<Filter> filters, Map<String, Servlet> servlets) throws Exception {
            return new TomcatServer(filters, servlets);
        }

        @Override
        TestDatabase database() {
            return TestDatabase.postgreSql();
        }
    }

    @Nested
    class LeasedOnH2 extends LeasedBehaviour {
        @Override
        ServletServer start(List<Filter> filters, Map<String, Servlet> servlets) throws Exception {
            return new TomcatServer(filters, servlets);
        }

        @Override
        TestDatabase database() {
            return TestDatabase.h2();
        }
    }

    @Nested
    class LeasedOnPostgreSql extends LeasedBehaviour {
        @Override
        ServletServer start(List<Filter> filters, Map<String, Servlet> servlets) throws Exception {
            return new TomcatServer(filters, servlets);
        }

        @Override
        TestDatabase database() {
            return TestDatabase.postgreSql();
        }
    }
}
