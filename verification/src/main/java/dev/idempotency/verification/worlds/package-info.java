/**
 * Small worlds, all of them: a simulation of the three protocols that visits every interleaving of a few processes' steps
 * with crashes, lost answers and ended leases between them. Start at {@link
 * dev.idempotency.verification.worlds.SmallWorlds}.
 *
 * <p>Operations and events run the product's own engines; stores, database, broker and relays are simulated at the level
 * of single SQL statements.
 */
@NullMarked
package dev.idempotency.verification.worlds;

import org.jspecify.annotations.NullMarked;
