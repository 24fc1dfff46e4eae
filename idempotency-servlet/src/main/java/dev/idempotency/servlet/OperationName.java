package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names the operation of a request by its method and its decoded path: two spellings of one path are one operation. */
final class OperationName {
    /** What a {@link dev.idempotency.Scope} takes. */
    private static final int LONGEST = 4096;

    private OperationName() {}

    /**
     * Returns a name that is fit for a scope, and for logs, whatever a stranger asks for.
     *
     * <p>Characters that would break a line are escaped again. The end of a very long name gives way to the hash of the
     * whole.
     */
    static String of(HttpServletRequest request) {
        String info = request.getPathInfo();
        return of(request.getMethod() + " " + request.getContextPath() + request.getServletPath()
                + (info == null ? "" : info));
    }

    static String of(String methodAndPath) {
        String printable = printable(methodAndPath);
        if (printable.length() <= LONGEST) {
            return printable;
        }
        String hash = "#sha256:" + sha256(printable);
        return printable.substring(0, LONGEST - hash.length()) + hash;
    }

    private static String printable(String text) {
        if (text.chars().noneMatch(OperationName::breaksLines)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (breaksLines(character)) {
                for (byte part : String.valueOf(character).getBytes(StandardCharsets.UTF_8)) {
                    escaped.append('%').append(HexFormat.of().withUpperCase().toHexDigits(part));
                }
            } else {
                escaped.append(character);
            }
        }
        return escaped.toString();
    }

    /** Control characters, and those by which Unicode ends lines and paragraphs or turns the direction of a text. */
    private static boolean breaksLines(int character) {
        return Character.isISOControl(character)
                || character == 0x2028
                || character == 0x2029
                || Character.getType(character) == Character.FORMAT;
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }
}
