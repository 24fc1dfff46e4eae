package dev.idempotency.servlet;

/**
 * How many bytes of a body are held, and where.
 *
 * @param memory the bytes held in memory, 0 to 1 GiB
 * @param total the bytes held at all, the rest of them in a temporary file; at least {@code memory}, at most 16 GiB
 */
public record BufferLimits(int memory, long total) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public BufferLimits {
        if (memory < 0 || memory > 1 << 30) {
            throw new IllegalArgumentException("memory must be between 0 and 1073741824 bytes, but is " + memory);
        }
        if (total < memory || total > 16L << 30) {
            throw new IllegalArgumentException(
                    "total must be between memory (" + memory + ") and 17179869184 bytes, but is " + total);
        }
    }
}
