package dev.idempotency.verification.matrix;

/**
 * What a service told its client.
 *
 * @param kind what the client concludes
 * @param text what was said, in one line
 */
record Reply(Kind kind, String text) {
    enum Kind {
        /** It is done, and this call did it. */
        EXECUTED,
        /** It is done, and an earlier call did it. */
        REPLAYED,
        /** Not known or not done: ask again with the same key. */
        AGAIN,
        /** It will not be done, or nobody can tell: do not ask again. */
        REFUSED
    }

    static Reply again(Object reason) {
        return new Reply(Kind.AGAIN, String.valueOf(reason).replace('\n', ' '));
    }

    /** Whether the client may rely on the effect. */
    boolean isAcknowledged() {
        return kind == Kind.EXECUTED || kind == Kind.REPLAYED;
    }

    boolean isFinal() {
        return kind != Kind.AGAIN;
    }

    String format() {
        return kind + " " + text;
    }

    static Reply parse(String line) {
        int blank = line.indexOf(' ');
        return new Reply(Kind.valueOf(line.substring(0, blank)), line.substring(blank + 1));
    }
}
