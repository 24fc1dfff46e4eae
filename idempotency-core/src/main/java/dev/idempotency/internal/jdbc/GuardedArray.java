package dev.idempotency.internal.jdbc;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link Array} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
final class GuardedArray extends GuardedLocator<Array> implements Array {
    GuardedArray(Guard guard, Array delegate) {
        super(guard, delegate);
    }

    @Override
    public String getBaseTypeName() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBaseTypeName();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getBaseType() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBaseType();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getArray() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getArray();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getArray(Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getArray(map);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getArray(long index, int count) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getArray(index, count);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getArray(long index, int count, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getArray(index, count, map);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getResultSet() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getResultSet());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getResultSet(Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getResultSet(map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getResultSet(long index, int count) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getResultSet(index, count));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getResultSet(long index, int count, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getResultSet(index, count, map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void free() throws SQLException {
        try {
            delegate.free();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }
}
