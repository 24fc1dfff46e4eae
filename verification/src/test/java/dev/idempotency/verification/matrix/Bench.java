package dev.idempotency.verification.matrix;

import dev.idempotency.jdbi.SchemaInstaller;
import dev.idempotency.testkit.fault.TcpProxy;
import dev.idempotency.testkit.service.EmbeddedPostgreSql;
import dev.idempotency.testkit.service.PostgreSqlDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

/** What all cases share: one database of each dialect behind a proxy, one broker, and a few processes. */
final class Bench implements AutoCloseable {
    private static final String H2_MEMORY = "mem:matrix;DB_CLOSE_DELAY=-1";

    private final Path folder;
    private final PostgreSqlDatabase postgreSql = EmbeddedPostgreSql.shared().createDatabase();
    private final TcpProxy postgreSqlProxy =
            TcpProxy.to(EmbeddedPostgreSql.shared().port());
    private final Server h2 = startH2();
    private final TcpProxy h2Proxy = TcpProxy.to(h2.getPort());
    private final Deque<CaseProcess> processes = new ArrayDeque<>();
    private final AtomicInteger keys = new AtomicInteger();
    private @Nullable Broker broker;

    Bench(Path folder) {
        this.folder = folder;
        install(site(Dialect.POSTGRESQL, false).outside());
        install(site(Dialect.H2, false).outside());
    }

    private static Server startH2() {
        try {
            return Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        } catch (SQLException e) {
            throw new IllegalStateException("H2 did not start", e);
        }
    }

    private static void install(DataSource dataSource) {
        SchemaInstaller.of(dataSource).install();
        Sql.createTables(dataSource);
    }

    /** Makes a key that no other case uses. */
    String newKey() {
        return "case-" + keys.incrementAndGet();
    }

    /** Where the service of this case runs; a process on H2 has a database file of its own. */
    Site site(Case of, String key) {
        if (of.subject().dialect() == Dialect.H2 && of.crash().needsProcess()) {
            // Without WRITE_DELAY=0, H2 keeps a commit in memory for up to half a second before it writes it.
            String url = "jdbc:h2:file:" + folder.resolve(key) + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE";
            Site site = new Site(url, url, "");
            install(site.outside());
            return site;
        }
        return site(of.subject().dialect(), of.subject().needsBroker());
    }

    /** Where a service on this dialect runs. */
    Site site(Dialect dialect) {
        return site(dialect, false);
    }

    private Site site(Dialect dialect, boolean withBroker) {
        String brokers = withBroker ? broker().address() : "";
        return dialect == Dialect.POSTGRESQL
                ? new Site(postgreSql.url(postgreSqlProxy.port()), postgreSql.url(), brokers)
                : new Site(
                        "jdbc:h2:tcp://127.0.0.1:" + h2Proxy.port() + "/" + H2_MEMORY, "jdbc:h2:" + H2_MEMORY, brokers);
    }

    /** The network between the service and its database. */
    TcpProxy network(Dialect dialect) {
        return dialect == Dialect.POSTGRESQL ? postgreSqlProxy : h2Proxy;
    }

    /** The broker, started by the first case that needs it. */
    Broker broker() {
        Broker running = broker;
        if (running == null) {
            running = Broker.start();
            broker = running;
        }
        return running;
    }

    /** A process that waits for work; the next one starts meanwhile. */
    CaseProcess takeProcess() {
        CaseProcess process = processes.isEmpty() ? CaseProcess.start() : processes.removeFirst();
        if (processes.isEmpty()) {
            processes.add(CaseProcess.start());
        }
        return process;
    }

    /** Takes back a process that lives. */
    void giveBack(CaseProcess process) {
        processes.addFirst(process);
    }

    @Override
    public void close() throws Exception {
        processes.forEach(CaseProcess::close);
        Broker running = broker;
        if (running != null) {
            running.close();
        }
        postgreSqlProxy.close();
        h2Proxy.close();
        h2.stop();
        postgreSql.close();
    }
}
