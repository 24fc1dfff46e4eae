/**
 * The crash matrix: every named step of every protocol, times the ways to crash there, on the real parts; start at {@link
 * dev.idempotency.verification.matrix.CrashMatrixIT}.
 */
@NullMarked
package dev.idempotency.verification.matrix;

import org.jspecify.annotations.NullMarked;
