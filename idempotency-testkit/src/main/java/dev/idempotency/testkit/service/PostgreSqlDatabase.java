package dev.idempotency.testkit.service;

import java.util.Map;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One database of an {@link EmbeddedPostgreSql}; test classes take one each.
 *
 * <p>Safe for use by many threads.
 */
public final class PostgreSqlDatabase implements AutoCloseable {
    private static final String USER = "postgres";

    private final EmbeddedPostgreSql server;
    private final String name;

    PostgreSqlDatabase(EmbeddedPostgreSql server, String name) {
        this.server = server;
        this.name = name;
    }

    /**
     * Returns the database's name.
     *
     * @return the name, which needs no quoting
     */
    public String name() {
        return name;
    }

    /**
     * Returns the URL for JDBC, with the user and without further properties.
     *
     * @return the URL; properties can be added with {@code &}
     */
    public String url() {
        return url(server.port());
    }

    /**
     * Returns the URL for JDBC by way of another port of this machine, for instance a proxy's.
     *
     * @param port the port to connect to
     * @return the URL; properties can be added with {@code &}
     */
    public String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + name + "?user=" + USER;
    }

    /**
     * Returns a data source that opens a new connection for each call.
     *
     * @return the data source
     */
    public DataSource dataSource() {
        return dataSource(Map.of());
    }

    /**
     * Returns a data source that opens a new connection for each call, with properties of the driver.
     *
     * @param properties the driver's properties, for instance {@code autosave=always}
     * @return the data source
     */
    public DataSource dataSource(Map<String, String> properties) {
        StringBuilder url = new StringBuilder(url());
        properties.forEach((property, value) ->
                url.append('&').append(property).append('=').append(value));
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url.toString());
        return dataSource;
    }

    /** Drops the database, cutting off whoever is connected. */
    @Override
    public void close() {
        server.administer("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    }
}
