package dev.idempotency.jdbi;

import dev.idempotency.Scope;

/** Texts that are stored for people alone: no request fails because of what is in them. */
final class OperationText {
    private static final int MAX_LENGTH = 255;

    private OperationText() {}

    /** The operation's name as far as the column holds it; identity rests on the scope's digest. */
    static String of(Scope scope) {
        return clean(scope.operation(), MAX_LENGTH);
    }

    /** The beginning of a text, without what a text column may refuse: control characters, halves of characters. */
    static String clean(String text, int maxLength) {
        StringBuilder clean = new StringBuilder(Math.min(text.length(), maxLength));
        text.codePoints()
                .limit(maxLength)
                .map(point -> Character.isISOControl(point) || isHalf(point) ? '?' : point)
                .forEach(clean::appendCodePoint);
        return clean.toString();
    }

    private static boolean isHalf(int point) {
        return point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
    }
}
