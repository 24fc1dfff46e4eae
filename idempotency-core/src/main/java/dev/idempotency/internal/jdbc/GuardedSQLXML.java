package dev.idempotency.internal.jdbc;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.sql.SQLException;
import java.sql.SQLXML;
import javax.xml.transform.Result;
import javax.xml.transform.Source;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link SQLXML} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
final class GuardedSQLXML extends GuardedLocator<SQLXML> implements SQLXML {
    GuardedSQLXML(Guard guard, SQLXML delegate) {
        super(guard, delegate);
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

    @Override
    public InputStream getBinaryStream() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBinaryStream();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public OutputStream setBinaryStream() throws SQLException {
        guard.requireActive();
        try {
            return delegate.setBinaryStream();
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
    public Writer setCharacterStream() throws SQLException {
        guard.requireActive();
        try {
            return delegate.setCharacterStream();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getString() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getString();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setString(String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setString(value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T extends Source> T getSource(Class<T> sourceClass) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSource(sourceClass);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T extends Result> T setResult(Class<T> resultClass) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setResult(resultClass);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }
}
