package dev.idempotency.internal.jdbc;

import java.io.InputStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.net.URL;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Date;
import java.sql.NClob;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.Ref;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.RowId;
import java.sql.SQLException;
import java.sql.SQLType;
import java.sql.SQLXML;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.Calendar;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link PreparedStatement} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
@SuppressWarnings("deprecation") // the interface has deprecated methods, and they are still called
class GuardedPreparedStatement extends GuardedStatement implements PreparedStatement {
    private final PreparedStatement delegate;

    GuardedPreparedStatement(Guard guard, PreparedStatement delegate) {
        super(guard, delegate);
        this.delegate = delegate;
    }

    @Override
    public ResultSet executeQuery() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.executeQuery(), this);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int executeUpdate() throws SQLException {
        guard.requireActive();
        try {
            return delegate.executeUpdate();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNull(int parameterIndex, int sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNull(parameterIndex, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNull(int parameterIndex, int sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNull(parameterIndex, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBoolean(int parameterIndex, boolean value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBoolean(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setByte(int parameterIndex, byte value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setByte(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setShort(int parameterIndex, short value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setShort(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setInt(int parameterIndex, int value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setInt(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setLong(int parameterIndex, long value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setLong(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setFloat(int parameterIndex, float value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setFloat(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDouble(int parameterIndex, double value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDouble(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBigDecimal(int parameterIndex, BigDecimal value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBigDecimal(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setString(int parameterIndex, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setString(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBytes(int parameterIndex, byte[] value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBytes(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDate(int parameterIndex, Date value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDate(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDate(int parameterIndex, Date value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDate(parameterIndex, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTime(int parameterIndex, Time value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTime(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTime(int parameterIndex, Time value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTime(parameterIndex, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTimestamp(int parameterIndex, Timestamp value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTimestamp(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTimestamp(int parameterIndex, Timestamp value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTimestamp(parameterIndex, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(int parameterIndex, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(int parameterIndex, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(int parameterIndex, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setUnicodeStream(int parameterIndex, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setUnicodeStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(int parameterIndex, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(int parameterIndex, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(int parameterIndex, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void clearParameters() throws SQLException {
        guard.requireActive();
        try {
            delegate.clearParameters();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(int parameterIndex, Object value, int targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterIndex, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(int parameterIndex, Object value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(int parameterIndex, Object value, int targetSqlType, int scaleOrLength) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterIndex, GuardedLocator.raw(value), targetSqlType, scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(int parameterIndex, Object value, SQLType targetSqlType, int scaleOrLength)
            throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterIndex, GuardedLocator.raw(value), targetSqlType, scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(int parameterIndex, Object value, SQLType targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterIndex, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean execute() throws SQLException {
        guard.requireActive();
        try {
            return delegate.execute();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void addBatch() throws SQLException {
        guard.requireActive();
        try {
            delegate.addBatch();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(int parameterIndex, Reader reader, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(int parameterIndex, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(int parameterIndex, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterIndex, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setRef(int parameterIndex, Ref value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setRef(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(int parameterIndex, Blob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(int parameterIndex, InputStream inputStream, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterIndex, inputStream, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(int parameterIndex, InputStream inputStream) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterIndex, inputStream);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(int parameterIndex, Clob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(int parameterIndex, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(int parameterIndex, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterIndex, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setArray(int parameterIndex, Array value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setArray(parameterIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSetMetaData getMetaData() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMetaData();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setURL(int parameterIndex, URL value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setURL(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ParameterMetaData getParameterMetaData() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getParameterMetaData();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setRowId(int parameterIndex, RowId value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setRowId(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNString(int parameterIndex, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNString(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNCharacterStream(int parameterIndex, Reader value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNCharacterStream(parameterIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNCharacterStream(int parameterIndex, Reader value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNCharacterStream(parameterIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(int parameterIndex, NClob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(int parameterIndex, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(int parameterIndex, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterIndex, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setSQLXML(int parameterIndex, SQLXML xmlObject) throws SQLException {
        guard.requireActive();
        try {
            delegate.setSQLXML(parameterIndex, GuardedLocator.raw(xmlObject));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long executeLargeUpdate() throws SQLException {
        guard.requireActive();
        try {
            return delegate.executeLargeUpdate();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }
}
