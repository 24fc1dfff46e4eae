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
import java.sql.Ref;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.RowId;
import java.sql.SQLException;
import java.sql.SQLType;
import java.sql.SQLWarning;
import java.sql.SQLXML;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.Calendar;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/**
 * Forwards every method of {@link ResultSet} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
@SuppressWarnings("deprecation") // the interface has deprecated methods, and they are still called
final class GuardedResultSet implements ResultSet {
    private final Guard guard;
    private final ResultSet delegate;

    /** Null where the driver made the statement itself, as for meta data. */
    private final @Nullable Statement statement;

    GuardedResultSet(Guard guard, ResultSet delegate, @Nullable Statement statement) {
        this.guard = guard;
        this.delegate = delegate;
        this.statement = statement;
    }

    @Override
    public String toString() {
        return delegate.toString();
    }

    @Override
    public boolean next() throws SQLException {
        guard.requireActive();
        try {
            return delegate.next();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void close() throws SQLException {
        try {
            delegate.close();
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
    public String getString(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getString(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getString(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getString(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean getBoolean(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBoolean(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean getBoolean(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBoolean(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte getByte(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getByte(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte getByte(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getByte(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public short getShort(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getShort(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public short getShort(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getShort(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getInt(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getInt(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getInt(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getInt(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long getLong(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getLong(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long getLong(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getLong(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public float getFloat(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFloat(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public float getFloat(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFloat(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public double getDouble(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDouble(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public double getDouble(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDouble(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(int columnIndex, int scale) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(columnIndex, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(String columnLabel, int scale) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(columnLabel, scale);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public BigDecimal getBigDecimal(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBigDecimal(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte[] getBytes(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBytes(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public byte[] getBytes(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBytes(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(int columnIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(columnIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Date getDate(String columnLabel, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDate(columnLabel, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(int columnIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(columnIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Time getTime(String columnLabel, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTime(columnLabel, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(int columnIndex, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(columnIndex, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Timestamp getTimestamp(String columnLabel, Calendar calendar) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimestamp(columnLabel, calendar);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getAsciiStream(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getAsciiStream(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getAsciiStream(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getAsciiStream(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getUnicodeStream(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getUnicodeStream(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getUnicodeStream(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getUnicodeStream(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getBinaryStream(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBinaryStream(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public InputStream getBinaryStream(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getBinaryStream(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public SQLWarning getWarnings() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getWarnings();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void clearWarnings() throws SQLException {
        guard.requireActive();
        try {
            delegate.clearWarnings();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getCursorName() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCursorName();
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
    public Object getObject(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(int columnIndex, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnIndex, map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Object getObject(String columnLabel, Map<String, Class<?>> map) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnLabel, map));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T> T getObject(int columnIndex, Class<T> type) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnIndex, type), type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T> T getObject(String columnLabel, Class<T> type) throws SQLException {
        guard.requireActive();
        try {
            return guard.object(delegate.getObject(columnLabel, type), type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int findColumn(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.findColumn(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getCharacterStream(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCharacterStream(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isBeforeFirst() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isBeforeFirst();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isAfterLast() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isAfterLast();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isFirst() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isFirst();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isLast() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isLast();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void beforeFirst() throws SQLException {
        guard.requireActive();
        try {
            delegate.beforeFirst();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void afterLast() throws SQLException {
        guard.requireActive();
        try {
            delegate.afterLast();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean first() throws SQLException {
        guard.requireActive();
        try {
            return delegate.first();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean last() throws SQLException {
        guard.requireActive();
        try {
            return delegate.last();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getRow() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean absolute(int row) throws SQLException {
        guard.requireActive();
        try {
            return delegate.absolute(row);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean relative(int rows) throws SQLException {
        guard.requireActive();
        try {
            return delegate.relative(rows);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean previous() throws SQLException {
        guard.requireActive();
        try {
            return delegate.previous();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setFetchDirection(int direction) throws SQLException {
        guard.requireActive();
        try {
            delegate.setFetchDirection(direction);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getFetchDirection() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFetchDirection();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void setFetchSize(int rows) throws SQLException {
        guard.requireActive();
        try {
            delegate.setFetchSize(rows);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getFetchSize() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getFetchSize();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getType() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getType();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getConcurrency() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getConcurrency();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean rowUpdated() throws SQLException {
        guard.requireActive();
        try {
            return delegate.rowUpdated();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean rowInserted() throws SQLException {
        guard.requireActive();
        try {
            return delegate.rowInserted();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean rowDeleted() throws SQLException {
        guard.requireActive();
        try {
            return delegate.rowDeleted();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNull(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNull(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNull(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNull(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBoolean(int columnIndex, boolean value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBoolean(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBoolean(String columnLabel, boolean value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBoolean(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateByte(int columnIndex, byte value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateByte(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateByte(String columnLabel, byte value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateByte(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateShort(int columnIndex, short value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateShort(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateShort(String columnLabel, short value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateShort(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateInt(int columnIndex, int value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateInt(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateInt(String columnLabel, int value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateInt(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateLong(int columnIndex, long value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateLong(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateLong(String columnLabel, long value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateLong(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateFloat(int columnIndex, float value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateFloat(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateFloat(String columnLabel, float value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateFloat(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateDouble(int columnIndex, double value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateDouble(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateDouble(String columnLabel, double value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateDouble(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBigDecimal(int columnIndex, BigDecimal value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBigDecimal(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBigDecimal(String columnLabel, BigDecimal value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBigDecimal(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateString(int columnIndex, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateString(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateString(String columnLabel, String value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateString(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBytes(int columnIndex, byte[] value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBytes(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBytes(String columnLabel, byte[] value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBytes(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateDate(int columnIndex, Date value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateDate(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateDate(String columnLabel, Date value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateDate(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateTime(int columnIndex, Time value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateTime(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateTime(String columnLabel, Time value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateTime(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateTimestamp(int columnIndex, Timestamp value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateTimestamp(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateTimestamp(String columnLabel, Timestamp value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateTimestamp(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(int columnIndex, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(String columnLabel, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnLabel, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(int columnIndex, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(String columnLabel, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnLabel, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(int columnIndex, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateAsciiStream(String columnLabel, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateAsciiStream(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(int columnIndex, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(String columnLabel, InputStream value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnLabel, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(int columnIndex, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(String columnLabel, InputStream value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnLabel, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(int columnIndex, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBinaryStream(String columnLabel, InputStream value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBinaryStream(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(int columnIndex, Reader value, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(String columnLabel, Reader reader, int length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnLabel, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(int columnIndex, Reader value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(String columnLabel, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnLabel, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(int columnIndex, Reader value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateCharacterStream(String columnLabel, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateCharacterStream(columnLabel, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(int columnIndex, Object value, int scaleOrLength) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnIndex, GuardedLocator.raw(value), scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(int columnIndex, Object value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnIndex, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(String columnLabel, Object value, int scaleOrLength) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnLabel, GuardedLocator.raw(value), scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(String columnLabel, Object value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnLabel, GuardedLocator.raw(value));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(int columnIndex, Object value, SQLType targetSqlType, int scaleOrLength)
            throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnIndex, GuardedLocator.raw(value), targetSqlType, scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(String columnLabel, Object value, SQLType targetSqlType, int scaleOrLength)
            throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnLabel, GuardedLocator.raw(value), targetSqlType, scaleOrLength);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(int columnIndex, Object value, SQLType targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnIndex, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateObject(String columnLabel, Object value, SQLType targetSqlType) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateObject(columnLabel, GuardedLocator.raw(value), targetSqlType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void insertRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.insertRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.updateRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void deleteRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.deleteRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void refreshRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.refreshRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void cancelRowUpdates() throws SQLException {
        guard.requireActive();
        try {
            delegate.cancelRowUpdates();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void moveToInsertRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.moveToInsertRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void moveToCurrentRow() throws SQLException {
        guard.requireActive();
        try {
            delegate.moveToCurrentRow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Statement getStatement() throws SQLException {
        guard.requireActive();
        try {
            return guard.ownerOf(delegate.getStatement(), statement);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Ref getRef(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRef(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Ref getRef(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRef(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Blob getBlob(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.blob(delegate.getBlob(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Blob getBlob(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.blob(delegate.getBlob(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Clob getClob(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.clob(delegate.getClob(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Clob getClob(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.clob(delegate.getClob(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Array getArray(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.array(delegate.getArray(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Array getArray(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.array(delegate.getArray(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public URL getURL(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getURL(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public URL getURL(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getURL(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateRef(int columnIndex, Ref value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateRef(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateRef(String columnLabel, Ref value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateRef(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(int columnIndex, Blob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(String columnLabel, Blob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(int columnIndex, InputStream inputStream, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnIndex, inputStream, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(String columnLabel, InputStream inputStream, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnLabel, inputStream, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(int columnIndex, InputStream inputStream) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnIndex, inputStream);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateBlob(String columnLabel, InputStream inputStream) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateBlob(columnLabel, inputStream);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(int columnIndex, Clob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(String columnLabel, Clob value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(int columnIndex, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(String columnLabel, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnLabel, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(int columnIndex, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnIndex, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateClob(String columnLabel, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateClob(columnLabel, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateArray(int columnIndex, Array value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateArray(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateArray(String columnLabel, Array value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateArray(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public RowId getRowId(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRowId(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public RowId getRowId(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRowId(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateRowId(int columnIndex, RowId value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateRowId(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateRowId(String columnLabel, RowId value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateRowId(columnLabel, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getHoldability() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getHoldability();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isClosed() throws SQLException {
        try {
            return delegate.isClosed();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNString(int columnIndex, String nString) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNString(columnIndex, nString);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNString(String columnLabel, String nString) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNString(columnLabel, nString);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(int columnIndex, NClob nclob) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnIndex, GuardedLocator.raw(nclob));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(String columnLabel, NClob nclob) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnLabel, GuardedLocator.raw(nclob));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(int columnIndex, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnIndex, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(String columnLabel, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnLabel, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(int columnIndex, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnIndex, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNClob(String columnLabel, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNClob(columnLabel, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public NClob getNClob(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.nclob(delegate.getNClob(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public NClob getNClob(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.nclob(delegate.getNClob(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public SQLXML getSQLXML(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return guard.sqlxml(delegate.getSQLXML(columnIndex));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public SQLXML getSQLXML(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return guard.sqlxml(delegate.getSQLXML(columnLabel));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateSQLXML(int columnIndex, SQLXML xmlObject) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateSQLXML(columnIndex, GuardedLocator.raw(xmlObject));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateSQLXML(String columnLabel, SQLXML xmlObject) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateSQLXML(columnLabel, GuardedLocator.raw(xmlObject));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getNString(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNString(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getNString(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNString(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getNCharacterStream(int columnIndex) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNCharacterStream(columnIndex);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Reader getNCharacterStream(String columnLabel) throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNCharacterStream(columnLabel);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNCharacterStream(int columnIndex, Reader value, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNCharacterStream(columnIndex, value, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNCharacterStream(String columnLabel, Reader reader, long length) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNCharacterStream(columnLabel, reader, length);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNCharacterStream(int columnIndex, Reader value) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNCharacterStream(columnIndex, value);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public void updateNCharacterStream(String columnLabel, Reader reader) throws SQLException {
        guard.requireActive();
        try {
            delegate.updateNCharacterStream(columnLabel, reader);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public <T> T unwrap(java.lang.Class<T> type) throws SQLException {
        guard.requireActive();
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        guard.requireNoJdbcType(type);
        try {
            return delegate.unwrap(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isWrapperFor(java.lang.Class<?> type) throws SQLException {
        guard.requireActive();
        if (type.isInstance(this)) {
            return true;
        }
        try {
            return !guard.isJdbcType(type) && delegate.isWrapperFor(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }
}
