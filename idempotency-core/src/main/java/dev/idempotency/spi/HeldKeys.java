package dev.idempotency.spi;

import java.nio.ByteBuffer;
import java.util.Set;

/**
 * Ordering keys whose rows wait behind a row of theirs, so that asking for them would only fill the page; relays that keep
 * order make it, {@link LeasedOutboxStore#read} leaves those rows out.
 *
 * @param heads the numbers of the rows behind which the others wait; these are not left out
 * @param orderingKeys the keys of rows that have an ordering key of their own
 * @param keys the keys of rows that have none, and are ordered by the key that goes to the broker
 */
public record HeldKeys(Set<Long> heads, Set<String> orderingKeys, Set<ByteBuffer> keys) {
    private static final HeldKeys NONE = new HeldKeys(Set.of(), Set.of(), Set.of());

    /** Copies the sets. */
    public HeldKeys {
        heads = Set.copyOf(heads);
        orderingKeys = Set.copyOf(orderingKeys);
        keys = Set.copyOf(keys);
    }

    /**
     * Returns no key at all.
     *
     * @return what leaves nothing out
     */
    public static HeldKeys none() {
        return NONE;
    }

    /**
     * Tells whether nothing is left out.
     *
     * @return true if there is no key
     */
    public boolean isEmpty() {
        return orderingKeys.isEmpty() && keys.isEmpty();
    }
}
