package dev.idempotency.internal.jdbc;

import java.sql.NClob;

/** As {@link GuardedClob}; {@link NClob} adds no method. */
final class GuardedNClob extends GuardedClob implements NClob {
    GuardedNClob(Guard guard, NClob delegate) {
        super(guard, delegate);
    }
}
