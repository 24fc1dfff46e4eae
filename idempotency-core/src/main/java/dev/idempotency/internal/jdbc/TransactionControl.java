package dev.idempotency.internal.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Finds, in SQL as user code sends it, statements that would begin or end a transaction: at the beginning, and behind
 * each semicolon that is neither quoted nor in a comment.
 *
 * <p>It knows as much of SQL as that takes, in the forms of PostgreSQL, H2 and MariaDB. What a procedure or a function
 * does, and what commits on MariaDB and H2 without saying so (DDL above all), it cannot see.
 */
final class TransactionControl {
    private static final String[] FIRST_WORDS = {
        "COMMIT", "ROLLBACK", "ABORT", "END", "BEGIN", "START", "PREPARE", "SET", "CREATE"
    };

    private final String sql;
    private final boolean mariaDb;
    private int position;

    private TransactionControl(String sql, boolean mariaDb) {
        this.sql = sql;
        this.mariaDb = mariaDb;
    }

    /** Asked only for texts whose meaning differs between the servers. */
    @FunctionalInterface
    interface Dialect {
        /** Tells whether MariaDB or MySQL will read the text. */
        boolean isMariaDb() throws SQLException;
    }

    /**
     * Returns the first statement that controls the transaction.
     *
     * <p>A single statement that begins with another word, as nearly all do, costs one look at that word and one search
     * for a semicolon.
     *
     * @param sql what is to be sent
     * @param dialect asked at most once
     * @return the statement's kind, for instance {@code COMMIT}; null if there is none
     * @throws SQLException what the dialect threw
     */
    static @Nullable String find(@Nullable String sql, Dialect dialect) throws SQLException {
        if (sql == null) {
            return null;
        }
        int start = 0;
        while (start < sql.length() && Character.isWhitespace(sql.charAt(start))) {
            start++;
        }
        if (start == sql.length() || (isPlainWord(sql, start) && sql.indexOf(';', start) < 0)) {
            return null;
        }
        return new TransactionControl(sql, dialect.isMariaDb()).find();
    }

    private static boolean isPlainWord(String sql, int start) {
        if (!Character.isLetter(sql.charAt(start))) {
            return false;
        }
        for (String word : FIRST_WORDS) {
            if (isWordAt(sql, start, word)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isWordAt(String sql, int start, String word) {
        int end = start + word.length();
        return sql.regionMatches(true, start, word, 0, word.length())
                && (end == sql.length() || !isWordPart(sql.charAt(end)));
    }

    private static boolean isWordPart(char character) {
        return Character.isLetterOrDigit(character) || character == '_' || character == '$';
    }

    private @Nullable String find() {
        while (toStatement()) {
            String kind = kind();
            if (kind != null) {
                return kind;
            }
            skipStatement();
        }
        return null;
    }

    /** Goes to the next statement; parentheses and JDBC's braces may stand around one. */
    private boolean toStatement() {
        while (true) {
            skipBlanks();
            if (position == sql.length()) {
                return false;
            }
            if (";({)}".indexOf(sql.charAt(position)) < 0) {
                return true;
            }
            position++;
        }
    }

    private @Nullable String kind() {
        if (word("COMMIT")) {
            return "COMMIT";
        }
        if (word("ROLLBACK")) {
            return isToSavepoint() ? null : "ROLLBACK";
        }
        if (word("BEGIN")) {
            // BEGIN NOT ATOMIC is MariaDB's compound statement.
            return word("NOT") ? null : "BEGIN";
        }
        if (word("START")) {
            return word("TRANSACTION") ? "START TRANSACTION" : null;
        }
        if (word("PREPARE")) {
            return word("TRANSACTION") || word("COMMIT") ? "PREPARE TRANSACTION" : null;
        }
        if (word("SET")) {
            return setsAutocommit() ? "SET AUTOCOMMIT" : null;
        }
        if (word("CREATE")) {
            skipDefinition();
            return null;
        }
        // MariaDB ends compound statements with END.
        if (!mariaDb && word("END")) {
            return "END";
        }
        return !mariaDb && word("ABORT") ? "ABORT" : null;
    }

    private boolean isToSavepoint() {
        if (!word("WORK")) {
            word("TRANSACTION");
        }
        return word("TO");
    }

    /** Switching it on commits; to say again that it is off does nothing. */
    private boolean setsAutocommit() {
        while (!atEndOfStatement()) {
            if (word("AUTOCOMMIT")) {
                skipBlanks();
                while (position < sql.length() && ":=".indexOf(sql.charAt(position)) >= 0) {
                    position++;
                }
                word("TO");
                if (!word("0") && !word("OFF") && !word("FALSE")) {
                    return true;
                }
            } else {
                skipElement();
            }
        }
        return false;
    }

    /** A routine's body between BEGIN and END has semicolons of its own and is not run now: what follows is not read. */
    private void skipDefinition() {
        while (!atEndOfStatement()) {
            if (word("BEGIN")) {
                position = sql.length();
            } else {
                skipElement();
            }
        }
    }

    private void skipStatement() {
        while (!atEndOfStatement()) {
            skipElement();
        }
    }

    private boolean atEndOfStatement() {
        skipBlanks();
        return position == sql.length() || sql.charAt(position) == ';';
    }

    /** Goes on behind this word if it stands here, alone. */
    private boolean word(String word) {
        skipBlanks();
        if (!isWordAt(sql, position, word)) {
            return false;
        }
        position += word.length();
        return true;
    }

    /** Goes on behind the word, the quoted text or the one character that stands here. */
    private void skipElement() {
        char character = sql.charAt(position);
        if (isWordPart(character) && character != '$') {
            int start = position;
            while (position < sql.length() && isWordPart(sql.charAt(position))) {
                position++;
            }
            boolean escapes = position - start == 1 && (character == 'e' || character == 'E');
            if (escapes && position < sql.length() && sql.charAt(position) == '\'') {
                skipQuoted('\'', true);
            }
        } else if (character == '\'' || character == '"') {
            skipQuoted(character, mariaDb);
        } else if (character == '`') {
            skipQuoted(character, false);
        } else if (character == '$' && !mariaDb) {
            skipDollarQuoted();
        } else {
            position++;
        }
    }

    /** A doubled quote is read as the end of one text and the beginning of the next, which comes to the same. */
    private void skipQuoted(char quote, boolean backslashEscapes) {
        position++;
        while (position < sql.length()) {
            char character = sql.charAt(position++);
            if (character == quote) {
                return;
            }
            if (character == '\\' && backslashEscapes && position < sql.length()) {
                position++;
            }
        }
    }

    /** A dollar sign that begins no quoted text is a parameter's, such as {@code $1}. */
    private void skipDollarQuoted() {
        int tagEnd = position + 1;
        while (tagEnd < sql.length() && sql.charAt(tagEnd) != '$' && isWordPart(sql.charAt(tagEnd))) {
            tagEnd++;
        }
        boolean opens =
                tagEnd < sql.length() && sql.charAt(tagEnd) == '$' && !Character.isDigit(sql.charAt(position + 1));
        if (!opens) {
            position++;
            return;
        }
        String tag = sql.substring(position, tagEnd + 1);
        int end = sql.indexOf(tag, tagEnd + 1);
        position = end < 0 ? sql.length() : end + tag.length();
    }

    /** White space, comments, and the marks around what MariaDB runs although it looks like a comment. */
    private void skipBlanks() {
        while (position < sql.length()) {
            char character = sql.charAt(position);
            if (Character.isWhitespace(character)) {
                position++;
            } else if (character == '-' && isLineComment()) {
                skipLine();
            } else if (character == '#' && mariaDb) {
                skipLine();
            } else if (mariaDb && sql.startsWith("*/", position)) {
                position += 2;
            } else if (sql.startsWith("/*", position)) {
                skipComment();
            } else {
                return;
            }
        }
    }

    /** To MariaDB {@code a--1} is a subtraction. */
    private boolean isLineComment() {
        if (!sql.startsWith("--", position)) {
            return false;
        }
        int next = position + 2;
        return !mariaDb || next >= sql.length() || sql.charAt(next) <= ' ';
    }

    private void skipLine() {
        while (position < sql.length() && sql.charAt(position) != '\n' && sql.charAt(position) != '\r') {
            position++;
        }
    }

    private void skipComment() {
        position += 2;
        if (mariaDb && isRunComment()) {
            return;
        }
        int depth = 1;
        while (position < sql.length() && depth > 0) {
            if (sql.startsWith("*/", position)) {
                depth--;
                position += 2;
            } else if (!mariaDb && sql.startsWith("/*", position)) {
                depth++;
                position += 2;
            } else {
                position++;
            }
        }
    }

    /** {@code /*!}, {@code /*M!} and a version number: MariaDB runs what follows. */
    private boolean isRunComment() {
        int mark = sql.startsWith("M", position) ? position + 1 : position;
        if (!sql.startsWith("!", mark)) {
            return false;
        }
        position = mark + 1;
        while (position < sql.length() && Character.isDigit(sql.charAt(position))) {
            position++;
        }
        return true;
    }
}
