package dev.idempotency.verification.worlds;

import org.jspecify.annotations.Nullable;

/**
 * What a step told its process: a value, or an error of the database.
 *
 * @param value the value; of no meaning beside an error
 * @param error the error, or null
 */
record Answer(@Nullable Object value, DatabaseError.@Nullable Kind error) {
    static Answer of(@Nullable Object value) {
        return new Answer(value, null);
    }

    static Answer error(DatabaseError.Kind kind) {
        return new Answer(null, kind);
    }

    @Override
    public String toString() {
        if (error != null) {
            return "! " + error;
        }
        return value == null ? "nothing" : value.toString();
    }
}
