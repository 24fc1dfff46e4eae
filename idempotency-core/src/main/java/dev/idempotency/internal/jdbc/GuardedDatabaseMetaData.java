package dev.idempotency.internal.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.RowIdLifetime;
import java.sql.SQLException;
import org.jspecify.annotations.NullUnmarked;

/**
 * Forwards every method of {@link DatabaseMetaData} in one shape: refuse after the end of the transaction, call the
 * driver, wrap what it returns, report what it throws. Written mechanically from the interface, it decides nothing.
 */
@NullUnmarked // java.sql says nothing about null, and nulls pass through untouched
final class GuardedDatabaseMetaData implements DatabaseMetaData {
    private final Guard guard;
    private final DatabaseMetaData delegate;

    GuardedDatabaseMetaData(Guard guard, DatabaseMetaData delegate) {
        this.guard = guard;
        this.delegate = delegate;
    }

    @Override
    public String toString() {
        return delegate.toString();
    }

    @Override
    public boolean allProceduresAreCallable() throws SQLException {
        guard.requireActive();
        try {
            return delegate.allProceduresAreCallable();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean allTablesAreSelectable() throws SQLException {
        guard.requireActive();
        try {
            return delegate.allTablesAreSelectable();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getURL() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getURL();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getUserName() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getUserName();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isReadOnly() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isReadOnly();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean nullsAreSortedHigh() throws SQLException {
        guard.requireActive();
        try {
            return delegate.nullsAreSortedHigh();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean nullsAreSortedLow() throws SQLException {
        guard.requireActive();
        try {
            return delegate.nullsAreSortedLow();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean nullsAreSortedAtStart() throws SQLException {
        guard.requireActive();
        try {
            return delegate.nullsAreSortedAtStart();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean nullsAreSortedAtEnd() throws SQLException {
        guard.requireActive();
        try {
            return delegate.nullsAreSortedAtEnd();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getDatabaseProductName() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDatabaseProductName();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getDatabaseProductVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDatabaseProductVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getDriverName() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDriverName();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getDriverVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDriverVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getDriverMajorVersion() {
        return delegate.getDriverMajorVersion();
    }

    @Override
    public int getDriverMinorVersion() {
        return delegate.getDriverMinorVersion();
    }

    @Override
    public boolean usesLocalFiles() throws SQLException {
        guard.requireActive();
        try {
            return delegate.usesLocalFiles();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean usesLocalFilePerTable() throws SQLException {
        guard.requireActive();
        try {
            return delegate.usesLocalFilePerTable();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMixedCaseIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMixedCaseIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesUpperCaseIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesUpperCaseIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesLowerCaseIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesLowerCaseIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesMixedCaseIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesMixedCaseIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMixedCaseQuotedIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMixedCaseQuotedIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesUpperCaseQuotedIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesUpperCaseQuotedIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesLowerCaseQuotedIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesLowerCaseQuotedIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean storesMixedCaseQuotedIdentifiers() throws SQLException {
        guard.requireActive();
        try {
            return delegate.storesMixedCaseQuotedIdentifiers();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getIdentifierQuoteString() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getIdentifierQuoteString();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getSQLKeywords() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSQLKeywords();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getNumericFunctions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getNumericFunctions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getStringFunctions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getStringFunctions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getSystemFunctions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSystemFunctions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getTimeDateFunctions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getTimeDateFunctions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getSearchStringEscape() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSearchStringEscape();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getExtraNameCharacters() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getExtraNameCharacters();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsAlterTableWithAddColumn() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsAlterTableWithAddColumn();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsAlterTableWithDropColumn() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsAlterTableWithDropColumn();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsColumnAliasing() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsColumnAliasing();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean nullPlusNonNullIsNull() throws SQLException {
        guard.requireActive();
        try {
            return delegate.nullPlusNonNullIsNull();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsConvert() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsConvert();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsConvert(int fromType, int toType) throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsConvert(fromType, toType);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsTableCorrelationNames() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsTableCorrelationNames();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsDifferentTableCorrelationNames() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsDifferentTableCorrelationNames();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsExpressionsInOrderBy() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsExpressionsInOrderBy();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOrderByUnrelated() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOrderByUnrelated();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsGroupBy() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsGroupBy();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsGroupByUnrelated() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsGroupByUnrelated();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsGroupByBeyondSelect() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsGroupByBeyondSelect();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsLikeEscapeClause() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsLikeEscapeClause();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMultipleResultSets() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMultipleResultSets();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMultipleTransactions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMultipleTransactions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsNonNullableColumns() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsNonNullableColumns();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMinimumSQLGrammar() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMinimumSQLGrammar();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCoreSQLGrammar() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCoreSQLGrammar();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsExtendedSQLGrammar() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsExtendedSQLGrammar();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsANSI92EntryLevelSQL() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsANSI92EntryLevelSQL();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsANSI92IntermediateSQL() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsANSI92IntermediateSQL();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsANSI92FullSQL() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsANSI92FullSQL();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsIntegrityEnhancementFacility() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsIntegrityEnhancementFacility();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOuterJoins() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOuterJoins();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsFullOuterJoins() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsFullOuterJoins();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsLimitedOuterJoins() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsLimitedOuterJoins();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getSchemaTerm() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSchemaTerm();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getProcedureTerm() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getProcedureTerm();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getCatalogTerm() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCatalogTerm();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean isCatalogAtStart() throws SQLException {
        guard.requireActive();
        try {
            return delegate.isCatalogAtStart();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public String getCatalogSeparator() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getCatalogSeparator();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSchemasInDataManipulation() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSchemasInDataManipulation();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSchemasInProcedureCalls() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSchemasInProcedureCalls();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSchemasInTableDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSchemasInTableDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSchemasInIndexDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSchemasInIndexDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSchemasInPrivilegeDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSchemasInPrivilegeDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCatalogsInDataManipulation() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCatalogsInDataManipulation();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCatalogsInProcedureCalls() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCatalogsInProcedureCalls();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCatalogsInTableDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCatalogsInTableDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCatalogsInIndexDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCatalogsInIndexDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCatalogsInPrivilegeDefinitions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCatalogsInPrivilegeDefinitions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsPositionedDelete() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsPositionedDelete();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsPositionedUpdate() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsPositionedUpdate();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSelectForUpdate() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSelectForUpdate();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsStoredProcedures() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsStoredProcedures();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSubqueriesInComparisons() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSubqueriesInComparisons();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSubqueriesInExists() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSubqueriesInExists();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSubqueriesInIns() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSubqueriesInIns();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSubqueriesInQuantifieds() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSubqueriesInQuantifieds();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsCorrelatedSubqueries() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsCorrelatedSubqueries();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsUnion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsUnion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsUnionAll() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsUnionAll();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOpenCursorsAcrossCommit() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOpenCursorsAcrossCommit();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOpenCursorsAcrossRollback() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOpenCursorsAcrossRollback();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOpenStatementsAcrossCommit() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOpenStatementsAcrossCommit();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsOpenStatementsAcrossRollback() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsOpenStatementsAcrossRollback();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxBinaryLiteralLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxBinaryLiteralLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxCharLiteralLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxCharLiteralLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnsInGroupBy() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnsInGroupBy();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnsInIndex() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnsInIndex();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnsInOrderBy() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnsInOrderBy();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnsInSelect() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnsInSelect();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxColumnsInTable() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxColumnsInTable();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxConnections() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxConnections();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxCursorNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxCursorNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxIndexLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxIndexLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxSchemaNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxSchemaNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxProcedureNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxProcedureNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxCatalogNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxCatalogNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxRowSize() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxRowSize();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean doesMaxRowSizeIncludeBlobs() throws SQLException {
        guard.requireActive();
        try {
            return delegate.doesMaxRowSizeIncludeBlobs();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxStatementLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxStatementLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxStatements() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxStatements();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxTableNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxTableNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxTablesInSelect() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxTablesInSelect();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getMaxUserNameLength() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxUserNameLength();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getDefaultTransactionIsolation() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDefaultTransactionIsolation();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsTransactions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsTransactions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsTransactionIsolationLevel(int level) throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsTransactionIsolationLevel(level);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsDataDefinitionAndDataManipulationTransactions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsDataDefinitionAndDataManipulationTransactions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsDataManipulationTransactionsOnly() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsDataManipulationTransactionsOnly();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean dataDefinitionCausesTransactionCommit() throws SQLException {
        guard.requireActive();
        try {
            return delegate.dataDefinitionCausesTransactionCommit();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean dataDefinitionIgnoredInTransactions() throws SQLException {
        guard.requireActive();
        try {
            return delegate.dataDefinitionIgnoredInTransactions();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getProcedures(String catalog, String schemaPattern, String procedureNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getProcedures(catalog, schemaPattern, procedureNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getProcedureColumns(
            String catalog, String schemaPattern, String procedureNamePattern, String columnNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(
                    delegate.getProcedureColumns(catalog, schemaPattern, procedureNamePattern, columnNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getTables(String catalog, String schemaPattern, String tableNamePattern, String[] types)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getTables(catalog, schemaPattern, tableNamePattern, types));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getSchemas() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getSchemas());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getSchemas(String catalog, String schemaPattern) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getSchemas(catalog, schemaPattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getCatalogs() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getCatalogs());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getTableTypes() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getTableTypes());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getColumns(String catalog, String schemaPattern, String tableNamePattern, String columnNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getColumns(catalog, schemaPattern, tableNamePattern, columnNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getColumnPrivileges(String catalog, String schema, String table, String columnNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getColumnPrivileges(catalog, schema, table, columnNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getTablePrivileges(String catalog, String schemaPattern, String tableNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getTablePrivileges(catalog, schemaPattern, tableNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getBestRowIdentifier(String catalog, String schema, String table, int scope, boolean nullable)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getBestRowIdentifier(catalog, schema, table, scope, nullable));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getVersionColumns(String catalog, String schema, String table) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getVersionColumns(catalog, schema, table));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getPrimaryKeys(String catalog, String schema, String table) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getPrimaryKeys(catalog, schema, table));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getImportedKeys(String catalog, String schema, String table) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getImportedKeys(catalog, schema, table));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getExportedKeys(String catalog, String schema, String table) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getExportedKeys(catalog, schema, table));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getCrossReference(
            String parentCatalog,
            String parentSchema,
            String parentTable,
            String foreignCatalog,
            String foreignSchema,
            String foreignTable)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getCrossReference(
                    parentCatalog, parentSchema, parentTable, foreignCatalog, foreignSchema, foreignTable));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getTypeInfo() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getTypeInfo());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getIndexInfo(String catalog, String schema, String table, boolean unique, boolean approximate)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getIndexInfo(catalog, schema, table, unique, approximate));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsResultSetType(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsResultSetType(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsResultSetConcurrency(int type, int concurrency) throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsResultSetConcurrency(type, concurrency);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean ownUpdatesAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.ownUpdatesAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean ownDeletesAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.ownDeletesAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean ownInsertsAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.ownInsertsAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean othersUpdatesAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.othersUpdatesAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean othersDeletesAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.othersDeletesAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean othersInsertsAreVisible(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.othersInsertsAreVisible(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean updatesAreDetected(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.updatesAreDetected(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean deletesAreDetected(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.deletesAreDetected(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean insertsAreDetected(int type) throws SQLException {
        guard.requireActive();
        try {
            return delegate.insertsAreDetected(type);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsBatchUpdates() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsBatchUpdates();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getUDTs(String catalog, String schemaPattern, String typeNamePattern, int[] types)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getUDTs(catalog, schemaPattern, typeNamePattern, types));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        guard.requireActive();
        return guard.connection();
    }

    @Override
    public boolean supportsSavepoints() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSavepoints();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsNamedParameters() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsNamedParameters();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsMultipleOpenResults() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsMultipleOpenResults();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsGetGeneratedKeys() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsGetGeneratedKeys();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getSuperTypes(String catalog, String schemaPattern, String typeNamePattern) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getSuperTypes(catalog, schemaPattern, typeNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getSuperTables(String catalog, String schemaPattern, String tableNamePattern) throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getSuperTables(catalog, schemaPattern, tableNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getAttributes(
            String catalog, String schemaPattern, String typeNamePattern, String attributeNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(
                    delegate.getAttributes(catalog, schemaPattern, typeNamePattern, attributeNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsResultSetHoldability(int holdability) throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsResultSetHoldability(holdability);
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getResultSetHoldability() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getResultSetHoldability();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getDatabaseMajorVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDatabaseMajorVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getDatabaseMinorVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getDatabaseMinorVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getJDBCMajorVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getJDBCMajorVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getJDBCMinorVersion() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getJDBCMinorVersion();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public int getSQLStateType() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getSQLStateType();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean locatorsUpdateCopy() throws SQLException {
        guard.requireActive();
        try {
            return delegate.locatorsUpdateCopy();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsStatementPooling() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsStatementPooling();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public RowIdLifetime getRowIdLifetime() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getRowIdLifetime();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsStoredFunctionsUsingCallSyntax() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsStoredFunctionsUsingCallSyntax();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean autoCommitFailureClosesAllResultSets() throws SQLException {
        guard.requireActive();
        try {
            return delegate.autoCommitFailureClosesAllResultSets();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getClientInfoProperties() throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getClientInfoProperties());
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getFunctions(String catalog, String schemaPattern, String functionNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(delegate.getFunctions(catalog, schemaPattern, functionNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getFunctionColumns(
            String catalog, String schemaPattern, String functionNamePattern, String columnNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(
                    delegate.getFunctionColumns(catalog, schemaPattern, functionNamePattern, columnNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public ResultSet getPseudoColumns(
            String catalog, String schemaPattern, String tableNamePattern, String columnNamePattern)
            throws SQLException {
        guard.requireActive();
        try {
            return guard.resultSet(
                    delegate.getPseudoColumns(catalog, schemaPattern, tableNamePattern, columnNamePattern));
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean generatedKeyAlwaysReturned() throws SQLException {
        guard.requireActive();
        try {
            return delegate.generatedKeyAlwaysReturned();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public long getMaxLogicalLobSize() throws SQLException {
        guard.requireActive();
        try {
            return delegate.getMaxLogicalLobSize();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsRefCursors() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsRefCursors();
        } catch (SQLException failure) {
            guard.report(failure);
            throw failure;
        }
    }

    @Override
    public boolean supportsSharding() throws SQLException {
        guard.requireActive();
        try {
            return delegate.supportsSharding();
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
