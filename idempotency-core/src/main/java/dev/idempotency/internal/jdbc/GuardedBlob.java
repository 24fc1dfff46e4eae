package dev.idempotency.internal.jdbc;

import java.io.InputStream;
import java.io.OutputStream;
import java.sql.Blob;
import java.sql.SQLException;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link Blob} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
final class GuardedBlob extends GuardedLocator<Blob> implements Blob {
    GuardedBlob(Guard guard, Blob delegate) {
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
    public byte[] getBytes(long position, int length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBytes(position, length);
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
    public InputStream getBinaryStream(long position, long length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBinaryStream(position, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long position(byte[] pattern, long start) throws SQLException {
        guard.requireActive();
        try {
            return delegate.position(pattern, start);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long position(Blob pattern, long start) throws SQLException {
        guard.requireActive();
        try {
            return delegate.position(GuardedLocator.raw(pattern), start);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int setBytes(long position, byte[] bytes) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setBytes(position, bytes);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int setBytes(long position, byte[] bytes, int offset, int length) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setBytes(position, bytes, offset, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public OutputStream setBinaryStream(long position) throws SQLException {
        guard.requireActive();
        try {
            return delegate.setBinaryStream(position);
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
