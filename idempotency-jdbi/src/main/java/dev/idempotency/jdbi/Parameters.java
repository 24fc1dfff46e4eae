package dev.idempotency.jdbi;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Binds a statement's parameters one after the other; a null has a type, without which PostgreSQL would guess one. */
final class Parameters {
    private final PreparedStatement statement;
    private int next;

    private Parameters(PreparedStatement statement, int next) {
        this.statement = statement;
        this.next = next;
    }

    static Parameters of(PreparedStatement statement) {
        return new Parameters(statement, 1);
    }

    /** Binds from this index on, after those that somebody else has bound. */
    static Parameters from(PreparedStatement statement, int next) {
        return new Parameters(statement, next);
    }

    Parameters text(@Nullable String value) throws SQLException {
        if (value == null) {
            statement.setNull(next++, Types.VARCHAR);
        } else {
            statement.setString(next++, value);
        }
        return this;
    }

    Parameters bytes(byte @Nullable [] value) throws SQLException {
        if (value == null) {
            statement.setNull(next++, Types.BINARY);
        } else {
            statement.setBytes(next++, value);
        }
        return this;
    }

    Parameters integer(@Nullable Integer value) throws SQLException {
        if (value == null) {
            statement.setNull(next++, Types.INTEGER);
        } else {
            statement.setInt(next++, value);
        }
        return this;
    }

    Parameters bigint(long value) throws SQLException {
        statement.setLong(next++, value);
        return this;
    }

    Parameters uuid(UUID value) throws SQLException {
        statement.setObject(next++, value);
        return this;
    }

    /** Binds a text or an array of bytes, whichever the column holds. */
    Parameters textOrBytes(Object value) throws SQLException {
        return value instanceof byte[] bytes ? bytes(bytes) : text((String) value);
    }
}
