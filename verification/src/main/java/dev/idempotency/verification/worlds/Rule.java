package dev.idempotency.verification.worlds;

/** The transaction rules that hold for all protocols; a seeded fault takes one of them away. */
enum Rule {
    T1("all of it commits together"),
    T2("the last statement proves its transaction"),
    T3("acknowledge after the commit"),
    T4("a duplicate never runs the work"),
    T5("only the owner finishes"),
    T6("unknown is not failed"),
    T7("never release after the effect"),
    T8("one clock"),
    T9("every wait has a bound"),
    T10("a lost race is looked at again"),
    T11("keys are compared byte by byte"),
    T12("locks in sorted order, conflicts do not count");

    private final String text;

    Rule(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }
}
