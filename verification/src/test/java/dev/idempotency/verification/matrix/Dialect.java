package dev.idempotency.verification.matrix;

/** The databases of the matrix. */
enum Dialect {
    POSTGRESQL("PostgreSQL"),
    H2("H2");

    private final String text;

    Dialect(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
