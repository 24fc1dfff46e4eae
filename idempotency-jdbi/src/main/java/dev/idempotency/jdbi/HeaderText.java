package dev.idempotency.jdbi;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event's headers as one text that people can read: a line per header, name and value parted by a tab; within both a
 * backslash stands before what would be mistaken (tab {@code \t}, line feed {@code \n}, NUL {@code \0}, backslash).
 */
final class HeaderText {
    private HeaderText() {}

    /** Returns the text, or null for no headers. */
    static @Nullable String encode(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        headers.forEach((name, value) -> {
            escape(name, text);
            text.append('\t');
            escape(value, text);
            text.append('\n');
        });
        return text.toString();
    }

    static Map<String, String> decode(@Nullable String text) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (text == null) {
            return headers;
        }
        int begin = 0;
        while (begin < text.length()) {
            int tab = text.indexOf('\t', begin);
            int end = text.indexOf('\n', tab);
            if (tab < 0 || end < 0) {
                throw new IllegalArgumentException(
                        "The headers in the outbox are damaged: a line has no tab or no end");
            }
            headers.put(unescape(text.substring(begin, tab)), unescape(text.substring(tab + 1, end)));
            begin = end + 1;
        }
        return headers;
    }

    private static void escape(String part, StringBuilder text) {
        for (int i = 0; i < part.length(); i++) {
            char character = part.charAt(i);
            switch (character) {
                case '\t' -> text.append("\\t");
                case '\n' -> text.append("\\n");
                case '\0' -> text.append("\\0");
                case '\\' -> text.append("\\\\");
                default -> text.append(character);
            }
        }
    }

    private static String unescape(String part) {
        if (part.indexOf('\\') < 0) {
            return part;
        }
        StringBuilder text = new StringBuilder(part.length());
        boolean escaped = false;
        for (int i = 0; i < part.length(); i++) {
            char character = part.charAt(i);
            if (escaped) {
                text.append(
                        switch (character) {
                            case 't' -> '\t';
                            case 'n' -> '\n';
                            case '0' -> '\0';
                            default -> character;
                        });
                escaped = false;
            } else if (character == '\\') {
                escaped = true;
            } else {
                text.append(character);
            }
        }
        return text.toString();
    }
}
