package dev.idempotency.spi;

/**
 * The right to relay the events of a range of buckets, held by one relay at a time; a store makes it and gets it back
 * unchanged.
 *
 * @param slot the number of the range
 * @param firstBucket the first bucket of the range
 * @param lastBucket the last bucket of the range
 * @param epoch the fencing token: one more than that of the holder before
 */
public record BucketLease(int slot, int firstBucket, int lastBucket, long epoch) {}
