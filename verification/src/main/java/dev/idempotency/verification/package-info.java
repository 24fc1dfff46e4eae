/**
 * Programs and tests that try to break the guarantees of all modules together: processes
 * killed between any two statements, small worlds explored to the end, and the rules of the
 * architecture.
 */
@NullMarked
package dev.idempotency.verification;

import org.jspecify.annotations.NullMarked;
