/**
 * Child processes that die where a test wants them to: {@link dev.idempotency.testkit.process.ChildJvm} starts, signals
 * and observes one, {@link dev.idempotency.testkit.process.CrashPoints} ends or holds it at a named step, and {@link
 * dev.idempotency.testkit.process.Stepped} puts those steps around real implementations of the SPIs.
 *
 * <p>Nothing of it is in the product: a step is a call of a decorator.
 */
@NullMarked
package dev.idempotency.testkit.process;

import org.jspecify.annotations.NullMarked;
