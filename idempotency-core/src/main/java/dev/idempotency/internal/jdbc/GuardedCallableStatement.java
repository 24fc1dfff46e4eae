package dev.idempotency.internal.jdbc;

import java.io.InputStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.net.URL;
import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Date;
import java.sql.NClob;
import java.sql.Ref;
import java.sql.RowId;
import java.sql.SQLException;
import java.sql.SQLType;
import java.sql.SQLXML;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.Calendar;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link CallableStatement} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
@SuppressWarnings("deprecation") // the interface has deprecated methods, and they are still called
final class GuardedCallableStatement extends GuardedPreparedStatement implements CallableStatement {
    private final CallableStatement delegate;

    GuardedCallableStatement(Guard guard, CallableStatement delegate) {
        super(guard, delegate);
        this.delegate = delegate;
    }

    @Override
    public void registerOutParameter(int parameterIndex, int sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(int parameterIndex, int sqlType, int scale) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(int parameterIndex, int sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, int sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, int sqlType, int scale) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, int sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(int parameterIndex, SQLType sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(int parameterIndex, SQLType sqlType, int scale) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(int parameterIndex, SQLType sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterIndex, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, SQLType sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, SQLType sqlType, int scale) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void registerOutParameter(String parameterName, SQLType sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.registerOutParameter(parameterName, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean wasNull() throws SQLException {
        guard.requireActive();
        try {
            return delegate.wasNull();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getString(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getString(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getString(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getString(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean getBoolean(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBoolean(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean getBoolean(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBoolean(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte getByte(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getByte(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte getByte(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getByte(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public short getShort(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getShort(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public short getShort(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getShort(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getInt(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getInt(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getInt(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getInt(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long getLong(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getLong(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long getLong(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getLong(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public float getFloat(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFloat(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public float getFloat(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFloat(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public double getDouble(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDouble(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public double getDouble(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDouble(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(int parameterIndex, int scale) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(parameterIndex, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte[] getBytes(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBytes(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte[] getBytes(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBytes(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(int parameterIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(parameterIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(String parameterName, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(parameterName, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(int parameterIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(parameterIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(String parameterName, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(parameterName, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(int parameterIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(parameterIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(String parameterName, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(parameterName, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(int parameterIndex, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterIndex, map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(String parameterName, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterName, map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T> T getObject(int parameterIndex, Class<T> type) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterIndex, type), type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T> T getObject(String parameterName, Class<T> type) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(parameterName, type), type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Ref getRef(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRef(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Ref getRef(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRef(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Blob getBlob(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.blob(delegate.getBlob(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Blob getBlob(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.blob(delegate.getBlob(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Clob getClob(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.clob(delegate.getClob(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Clob getClob(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.clob(delegate.getClob(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Array getArray(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.array(delegate.getArray(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Array getArray(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.array(delegate.getArray(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public URL getURL(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getURL(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public URL getURL(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getURL(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setURL(String parameterName, URL val) throws SQLException {
        guard.requireActive();
        try {
            delegate.setURL(parameterName, val);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNull(String parameterName, int sqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNull(parameterName, sqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNull(String parameterName, int sqlType, String typeName) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNull(parameterName, sqlType, typeName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBoolean(String parameterName, boolean value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBoolean(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setByte(String parameterName, byte value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setByte(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setShort(String parameterName, short value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setShort(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setInt(String parameterName, int value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setInt(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setLong(String parameterName, long value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setLong(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setFloat(String parameterName, float value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setFloat(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDouble(String parameterName, double value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDouble(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBigDecimal(String parameterName, BigDecimal value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBigDecimal(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setString(String parameterName, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setString(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBytes(String parameterName, byte[] value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBytes(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDate(String parameterName, Date value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDate(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setDate(String parameterName, Date value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setDate(parameterName, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTime(String parameterName, Time value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTime(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTime(String parameterName, Time value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTime(parameterName, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTimestamp(String parameterName, Timestamp value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTimestamp(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setTimestamp(String parameterName, Timestamp value, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            delegate.setTimestamp(parameterName, value, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(String parameterName, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterName, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(String parameterName, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterName, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setAsciiStream(String parameterName, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setAsciiStream(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(String parameterName, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterName, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(String parameterName, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterName, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBinaryStream(String parameterName, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBinaryStream(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(String parameterName, Object value, int targetSqlType, int scale) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterName, GuardedLocator.raw(value), targetSqlType, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(String parameterName, Object value, int targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterName, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(String parameterName, Object value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterName, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(String parameterName, Object value, SQLType targetSqlType, int scaleOrLength)
            throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterName, GuardedLocator.raw(value), targetSqlType, scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setObject(String parameterName, Object value, SQLType targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.setObject(parameterName, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(String parameterName, Reader reader, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterName, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(String parameterName, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterName, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setCharacterStream(String parameterName, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setCharacterStream(parameterName, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public RowId getRowId(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRowId(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public RowId getRowId(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRowId(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setRowId(String parameterName, RowId value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setRowId(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNString(String parameterName, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNString(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNCharacterStream(String parameterName, Reader value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNCharacterStream(parameterName, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNCharacterStream(String parameterName, Reader value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNCharacterStream(parameterName, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(String parameterName, NClob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterName, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(String parameterName, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterName, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setNClob(String parameterName, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setNClob(parameterName, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(String parameterName, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterName, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(String parameterName, Clob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterName, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setClob(String parameterName, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.setClob(parameterName, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(String parameterName, InputStream inputStream, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterName, inputStream, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(String parameterName, Blob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterName, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setBlob(String parameterName, InputStream inputStream) throws SQLException {
        guard.requireActive();
        try {
            delegate.setBlob(parameterName, inputStream);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public NClob getNClob(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.nclob(delegate.getNClob(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public NClob getNClob(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.nclob(delegate.getNClob(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setSQLXML(String parameterName, SQLXML xmlObject) throws SQLException {
        guard.requireActive();
        try {
            delegate.setSQLXML(parameterName, GuardedLocator.raw(xmlObject));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public SQLXML getSQLXML(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.sqlxml(delegate.getSQLXML(parameterIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public SQLXML getSQLXML(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return guard.sqlxml(delegate.getSQLXML(parameterName));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getNString(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNString(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getNString(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNString(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getNCharacterStream(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNCharacterStream(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getNCharacterStream(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNCharacterStream(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream(int parameterIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream(parameterIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream(String parameterName) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream(parameterName);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }
}
