package dev.idempotency.verification.matrix;

import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Where a service runs.
 *
 * @param url the way to the database, on which crashes happen
 * @param outsideUrl the same database by a way on which nothing happens: for effects and brokers outside the transaction
 * @param brokers the value of {@code bootstrap.servers}; empty if there is none
 */
record Site(String url, String outsideUrl, String brokers) {
    DataSource dataSource() {
        return dataSource(url);
    }

    DataSource outside() {
        return dataSource(outsideUrl);
    }

    boolean isPostgreSql() {
        return url.startsWith("jdbc:postgresql:");
    }

    /** The same place without the detour on which crashes happen. */
    Site undisturbed() {
        return new Site(outsideUrl, outsideUrl, brokers);
    }

    private static DataSource dataSource(String url) {
        if (url.startsWith("jdbc:h2:")) {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setURL(url);
            return h2;
        }
        PGSimpleDataSource postgreSql = new PGSimpleDataSource();
        postgreSql.setUrl(url);
        return postgreSql;
    }
}
