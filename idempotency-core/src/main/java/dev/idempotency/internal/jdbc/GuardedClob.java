package dev.idempotency.internal.jdbc;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.sql.Clob;
import java.sql.SQLException;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link Clob} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
class GuardedClob extends GuardedLocator<Clob> implements Clob {
    GuardedClob(Guard guard, Clob delegate) {
        super(guard, delegate);
    }

    @Override
    public long length() throws SQLException {
        guard.requireActive();
        try {
            return delegate.length();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getSubString(long position, int length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSubString(position, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream(long position, long length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream(position, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getAsciiStream() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getAsciiStream();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long position(String pattern, long start) throws SQLException {
        guard.requireActive();
        try {
            return delegate.position(pattern, start);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long position(Clob pattern, long start) throws SQLException {
        guard.requireActive();
        try {
            return delegate.position(GuardedLocator.raw(pattern), start);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int setString(long position, String value) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setString(position, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int setString(long position, String value, int offset, int length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setString(position, value, offset, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public OutputStream setAsciiStream(long position) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setAsciiStream(position);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Writer setCharacterStream(long position) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setCharacterStream(position);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void truncate(long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.truncate(length);
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
