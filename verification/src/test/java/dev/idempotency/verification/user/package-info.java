/**
 * What the testkit gives to applications, used as they use it; start at {@link
 * dev.idempotency.verification.user.EveryCrashPointTest}.
 */
@NullMarked
package dev.idempotency.verification.user;

import org.jspecify.annotations.NullMarked;
