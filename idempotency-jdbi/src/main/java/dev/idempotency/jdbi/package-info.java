/**
 * SQL stores for PostgreSQL, MariaDB, MySQL and H2, which write the idempotency record in the
 * same transaction as the work it protects.
 */
@NullMarked
package dev.idempotency.jdbi;

import org.jspecify.annotations.NullMarked;
