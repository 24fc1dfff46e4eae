package dev.idempotency.testkit.service;

import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.mariadb.jdbc.MariaDbDataSource;

/**
 * One database of an {@link EmbeddedMariaDb}; test classes take one each.
 *
 * <p>Safe for use by many threads.
 */
public final class MariaDbDatabase implements AutoCloseable {
    private final EmbeddedMariaDb server;
    private final String name;

    MariaDbDatabase(EmbeddedMariaDb server, String name) {
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
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + name + "?user=root";
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
     * @param properties the driver's properties, for instance {@code useAffectedRows=true}
     * @return the data source
     * @throws IllegalArgumentException if the driver does not know one of them
     */
    public DataSource dataSource(Map<String, String> properties) {
        StringBuilder url = new StringBuilder(url());
        properties.forEach((property, value) ->
                url.append('&').append(property).append('=').append(value));
        try {
            return new MariaDbDataSource(url.toString());
        } catch (SQLException e) {
            throw new IllegalArgumentException("The driver does not take " + url, e);
        }
    }

    /** Drops the database. */
    @Override
    public void close() {
        server.administer("DROP DATABASE IF EXISTS " + name);
    }
}
