/**
 * The values that name an operation or an event, the contracts that stores implement, and the
 * engines that run an operation under a key and process an event once.
 */
@NullMarked
package dev.idempotency;

import org.jspecify.annotations.NullMarked;
