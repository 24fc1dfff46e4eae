/** What the order service and the billing service of the demo share: their settings, their messages, their parent. */
@NullMarked
package dev.idempotency.examples.chain.service;

import org.jspecify.annotations.NullMarked;
