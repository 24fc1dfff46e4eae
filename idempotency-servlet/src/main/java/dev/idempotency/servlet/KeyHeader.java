package dev.idempotency.servlet;

import dev.idempotency.IdempotencyKey;
import java.util.List;

/** Reads the key from the header lines of one request, before anything is looked up. */
final class KeyHeader {
    private final String text;
    private int position;

    private KeyHeader(String text) {
        this.text = text;
    }

    /** What the header lines held. */
    sealed interface Parsed {
        /** There is no such header. */
        record Missing() implements Parsed {}

        /** The header cannot be a key; the reason names the rule, never the value. */
        record Invalid(String reason) implements Parsed {}

        /** The header names this key. */
        record Present(IdempotencyKey key) implements Parsed {}
    }

    static Parsed parse(List<String> lines, KeySyntax syntax) {
        if (lines.isEmpty()) {
            return new Parsed.Missing();
        }
        if (lines.size() > 1) {
            return new Parsed.Invalid("the header must be sent once, but came " + lines.size() + " times");
        }
        // RFC 9110, section 5.5: white space around a field value is no part of it.
        String value = trim(lines.get(0));
        try {
            if (value.startsWith("\"")) {
                return new Parsed.Present(IdempotencyKey.of(new KeyHeader(value).item()));
            }
            if (syntax == KeySyntax.STRICT) {
                return new Parsed.Invalid("the value must be a structured-field string in double quotes");
            }
            if (value.indexOf(',') >= 0 || value.indexOf(';') >= 0 || value.indexOf('"') >= 0) {
                return new Parsed.Invalid("a value without quotes holds no comma, semicolon or double quote");
            }
            return new Parsed.Present(IdempotencyKey.of(value));
        } catch (IllegalArgumentException e) {
            return new Parsed.Invalid(String.valueOf(e.getMessage()));
        }
    }

    /** RFC 8941, section 4.2: an item that is a string, its parameters read and ignored, and nothing after it. */
    private String item() {
        String value = string();
        skipParameters();
        skipSpaces();
        if (position < text.length()) {
            throw new IllegalArgumentException("the value must be one string and nothing after it");
        }
        return value;
    }

    /** RFC 8941, section 4.2.5. */
    private String string() {
        StringBuilder value = new StringBuilder();
        position++;
        while (position < text.length()) {
            char character = text.charAt(position++);
            if (character == '"') {
                return value.toString();
            }
            if (character == '\\') {
                character = escaped();
            } else if (character < 0x20 || character > 0x7e) {
                throw new IllegalArgumentException("a string holds printable ASCII characters only");
            }
            value.append(character);
        }
        throw new IllegalArgumentException("the string has no closing double quote");
    }

    private char escaped() {
        if (position == text.length()) {
            throw new IllegalArgumentException("the string ends within an escape");
        }
        char character = text.charAt(position++);
        if (character != '"' && character != '\\') {
            throw new IllegalArgumentException("a backslash escapes only a double quote or a backslash");
        }
        return character;
    }

    /** RFC 8941, section 4.2.3.2, for the value types that a parameter can have. */
    private void skipParameters() {
        while (position < text.length() && text.charAt(position) == ';') {
            position++;
            skipSpaces();
            skipParameterName();
            if (position < text.length() && text.charAt(position) == '=') {
                position++;
                skipParameterValue();
            }
        }
    }

    private void skipParameterName() {
        if (position == text.length() || !isNameStart(text.charAt(position))) {
            throw new IllegalArgumentException("a parameter's name begins with a lower-case letter or an asterisk");
        }
        while (position < text.length() && isNamePart(text.charAt(position))) {
            position++;
        }
    }

    private void skipParameterValue() {
        if (position == text.length()) {
            throw new IllegalArgumentException("a parameter has an equals sign and no value");
        }
        if (text.charAt(position) == '"') {
            string();
            return;
        }
        int start = position;
        while (position < text.length() && isBareItemPart(text.charAt(position))) {
            position++;
        }
        if (position == start) {
            throw new IllegalArgumentException("a parameter has an equals sign and no value");
        }
    }

    private void skipSpaces() {
        while (position < text.length() && text.charAt(position) == ' ') {
            position++;
        }
    }

    private static boolean isNameStart(char character) {
        return (character >= 'a' && character <= 'z') || character == '*';
    }

    private static boolean isNamePart(char character) {
        return isNameStart(character) || isDigit(character) || "_-.".indexOf(character) >= 0;
    }

    /** Tokens, numbers, booleans and byte sequences: everything that has no quotes, spaces or separators. */
    private static boolean isBareItemPart(char character) {
        return character > 0x20 && character < 0x7f && "\",;".indexOf(character) < 0;
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }

    private static String trim(String value) {
        int start = 0;
        int end = value.length();
        while (start < end && isOptionalSpace(value.charAt(start))) {
            start++;
        }
        while (end > start && isOptionalSpace(value.charAt(end - 1))) {
            end--;
        }
        return value.substring(start, end);
    }

    private static boolean isOptionalSpace(char character) {
        return character == ' ' || character == '\t';
    }
}
