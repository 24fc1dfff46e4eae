package dev.idempotency.testkit.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import org.jspecify.annotations.Nullable;

/** What happens at a {@link JdbcPoint}; made by the factories here, or implemented by a test. */
@FunctionalInterface
public interface Fault {
    /**
     * Acts.
     *
     * @param connection the real connection; null at {@link JdbcPoint#BEFORE_CONNECT}
     * @throws SQLException what the caller of JDBC is to see; without it the call goes on
     */
    void strike(@Nullable Connection connection) throws SQLException;

    /**
     * Cuts the connection without a word to the server and throws an error of class 08: at {@link
     * JdbcPoint#BEFORE_COMMIT} the commit never arrives, at {@link JdbcPoint#AFTER_COMMIT} its answer is lost.
     *
     * @return the fault
     */
    static Fault cut() {
        return connection -> {
            if (connection != null) {
                connection.abort(Runnable::run);
                if (connection.isValid(5)) {
                    // H2 does not know abort; an embedded database rolls back when its connection is closed. A pool's
                    // dead connection stays with its user: closed here, the pool could give it to somebody else.
                    connection.close();
                }
            }
            throw new SQLNonTransientConnectionException("The connection was cut by the test", "08006");
        };
    }

    /**
     * Throws an error and leaves the connection alone.
     *
     * @param sqlState the error's five characters, for instance {@code 40001}
     * @return the fault
     */
    static Fault error(String sqlState) {
        return connection -> {
            throw new SQLException("Injected by the test", sqlState);
        };
    }

    /**
     * Holds the thread at a gate, then lets it go on.
     *
     * @param gate the gate
     * @return the fault
     */
    static Fault hold(Gate gate) {
        return connection -> gate.pass();
    }

    /**
     * Runs something, then lets the thread go on.
     *
     * @param action what to run; what it throws passes through
     * @return the fault
     */
    static Fault run(Runnable action) {
        return connection -> action.run();
    }

    /**
     * Returns this fault followed by another, if this one does not throw.
     *
     * @param next the other
     * @return both
     */
    default Fault then(Fault next) {
        return connection -> {
            strike(connection);
            next.strike(connection);
        };
    }
}
