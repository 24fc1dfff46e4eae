package dev.idempotency.spi;

import dev.idempotency.RecordId;
import java.io.IOException;

/**
 * Turns the bytes of an answer into those that a store gets, and back; implemented by whoever must not have answers lie in
 * a database as they are, and given to {@link dev.idempotency.RecordFormat#withEncoding}. The place for encryption.
 *
 * <p><b>What it does:</b> {@code decode(id, encode(id, answer))} is equal to {@code answer}, also in another process and
 * after years. What it gets is metadata and body in one piece.<br>
 * <b>Transaction:</b> it is called while a connection is in use, so it must be quick; it must not use the store.<br>
 * <b>Concurrency:</b> safe for use by many threads.<br>
 * <b>Failure:</b> under {@link dev.idempotency.Protection#TRANSACTIONAL} whatever {@code encode} throws rolls the work back.
 * Under {@link dev.idempotency.Protection#LEASED} the work is done when its answer is encoded: it is recorded as over and
 * cannot be given again. {@link dev.idempotency.StoreUnavailableException} says that it may work a moment later, and counts as
 * a store that is not there: thrown by {@code encode} under LEASED it leaves the effect without a record, as a database that
 * fails at this moment does, so {@code encode} should not depend on another service. Anything else that {@code decode} throws
 * makes the answer one that cannot be given again, and the work never runs (DESIGN rule T4).
 */
public interface AnswerEncoding {
    /**
     * Returns the name that is stored beside each answer, by which its decoder is found.
     *
     * @return 1 to 32 characters of {@code a} to {@code z}, {@code 0} to {@code 9} and {@code -}; always the same
     */
    String name();

    /**
     * Encodes an answer.
     *
     * @param id whose answer it is; an encryption can bind its result to it, so that no answer passes for another's
     * @param answer the bytes, not to be changed
     * @return the bytes to store
     */
    byte[] encode(RecordId id, byte[] answer);

    /**
     * Decodes what {@link #encode} made.
     *
     * @param id whose answer it is
     * @param stored the bytes, not to be changed
     * @param maxBytes the most bytes that may be returned; whoever would return more throws without having them all in
     *     memory, since what is stored may have been forged
     * @return the answer's bytes
     * @throws IOException if the bytes cannot be decoded
     */
    byte[] decode(RecordId id, byte[] stored, int maxBytes) throws IOException;
}
