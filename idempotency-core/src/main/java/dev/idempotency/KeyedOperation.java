package dev.idempotency;

import dev.idempotency.operation.EffectWork;
import dev.idempotency.operation.ResultCodec;
import dev.idempotency.operation.ResultCodecs;
import dev.idempotency.operation.TypedOutcome;
import dev.idempotency.operation.TypedWork;
import dev.idempotency.spi.AbandonedPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One call to be run once under its key, with a typed result; {@link NamedOperation#key} gives it. Immutable, so that a
 * call may be repeated.
 *
 * <p>{@code execute} returns the result, of this call or of the first one, or throws an exception that names what stood
 * in the way; {@code tryExecute} returns a sealed outcome instead. The first caller gets the very object that the work
 * returned, repeats get a decoded copy.
 *
 * <p>Under {@link Protection#TRANSACTIONAL} the work runs in a transaction that the library opens, so none of it may be
 * running on this thread. A transaction that only lost against a concurrent one (a serialization failure, a deadlock) is
 * rolled back and the work run again, a bounded number of times (DESIGN rule T12): what the work does outside its
 * transaction is not protected, and leased work is for that.
 *
 * @param <C> what the work is given
 */
public final class KeyedOperation<C extends IdempotencyContext> {
    private final Idempotency idempotency;
    private final ResultCodecs codecs;
    private final Operation operation;
    private final Class<C> contextType;

    KeyedOperation(Idempotency idempotency, ResultCodecs codecs, Operation operation, Class<C> contextType) {
        this.idempotency = idempotency;
        this.codecs = codecs;
        this.operation = operation;
        this.contextType = contextType;
    }

    /**
     * Says what the call asks for: a repeat must bring the same bytes, and another call under the same key is refused.
     *
     * <p>Without a fingerprint nothing is compared, and whoever uses a key twice gets the first call's result.
     *
     * @param content the bytes that make the call what it is, for instance amount and account; only their hash is kept
     * @return the call
     */
    public KeyedOperation<C> fingerprint(byte[] content) {
        return fingerprint(Fingerprint.sha256("operation-1", content));
    }

    /**
     * As {@link #fingerprint(byte[])}, with a fingerprint made elsewhere.
     *
     * @param fingerprint what the call asks for
     * @return the call
     */
    public KeyedOperation<C> fingerprint(Fingerprint fingerprint) {
        return with(new Operation(
                operation.id(),
                fingerprint,
                operation.protection(),
                operation.retention(),
                operation.abandoned(),
                operation.maxWait(),
                operation.repeatable()));
    }

    /**
     * Sets how long the result is kept, counted from the claim.
     *
     * @param duration 1 s to 3,660 days; 24 h unless set
     * @return the call
     */
    public KeyedOperation<C> retention(Duration duration) {
        return with(operation.withRetention(Objects.requireNonNull(duration, "duration")));
    }

    /**
     * Lets a duplicate wait for the running attempt.
     *
     * @param duration zero to 10 minutes; zero unless set
     * @return the call
     * @throws IllegalArgumentException if the wait is out of its range
     */
    public KeyedOperation<C> maxWait(Duration duration) {
        return with(operation.withMaxWait(duration));
    }

    /**
     * Says what to do about a leased claim whose owner is gone.
     *
     * @param policy {@link AbandonedPolicy#REPORT_UNKNOWN} unless set
     * @return the call
     */
    public KeyedOperation<C> abandoned(AbandonedPolicy policy) {
        return with(operation.withAbandoned(Objects.requireNonNull(policy, "policy")));
    }

    /**
     * Returns this call under {@link Protection#LEASED}, for an effect outside the store's database: there is no
     * transaction, and no work is run twice by itself.
     *
     * @return the call
     */
    public KeyedOperation<IdempotencyContext> leased() {
        Operation leased = new Operation(
                operation.id(),
                operation.fingerprint(),
                Protection.LEASED,
                operation.retention(),
                operation.abandoned(),
                operation.maxWait(),
                false);
        return new KeyedOperation<>(idempotency, codecs, leased, IdempotencyContext.class);
    }

    /**
     * Runs the work unless it has run before, and returns the result.
     *
     * @param <T> the type of the result
     * @param <X> the type of exception the work may throw
     * @param type the result's class, which has a codec in {@link Idempotency.Builder#codecs}
     * @param work the work
     * @return the result, of this call or the first
     * @throws X what the work threw, untouched; see {@link TypedWork#run} for what is left then
     * @throws dev.idempotency.operation.OperationException if there is no result to give, as the final class that says
     *     why
     * @throws StoreUnavailableException if the store could not be asked; the work did not run. {@link StoreException} for
     *     what a repeat will not cure
     * @throws TransactionLostException if the work ended its transaction behind the library's back
     * @throws IllegalArgumentException if the type has no codec, or the protection no store; the work did not run
     */
    public <T, X extends Exception> T execute(Class<T> type, TypedWork<C, T, X> work) throws X {
        return tryExecute(type, work).orThrow();
    }

    /**
     * As {@link #execute(Class, TypedWork)}, for results whose class does not say all, such as lists.
     *
     * @param <T> the type of the result
     * @param <X> the type of exception the work may throw
     * @param codec writes and reads the result
     * @param work the work
     * @return the result, of this call or the first
     * @throws X what the work threw, untouched
     */
    public <T extends @Nullable Object, X extends Exception> T execute(ResultCodec<T> codec, TypedWork<C, T, X> work)
            throws X {
        return tryExecute(codec, work).orThrow();
    }

    /**
     * As {@link #execute(Class, TypedWork)}, for work without a result: it returns when the effect has happened.
     *
     * @param <X> the type of exception the work may throw
     * @param work the work
     * @throws X what the work threw, untouched
     */
    public <X extends Exception> void execute(EffectWork<C, X> work) throws X {
        tryExecute(work).orThrow();
    }

    /**
     * Runs the work unless it has run before, and tells what became of the call.
     *
     * @param <T> the type of the result
     * @param <X> the type of exception the work may throw
     * @param type the result's class, which has a codec in {@link Idempotency.Builder#codecs}
     * @param work the work
     * @return what became of the call
     * @throws X what the work threw, untouched
     * @throws dev.idempotency.operation.ResultNotEncodedException if the codec cannot write the result
     * @throws IllegalArgumentException if the type has no codec, or the protection no store; the work did not run
     */
    public <T, X extends Exception> TypedOutcome<T> tryExecute(Class<T> type, TypedWork<C, T, X> work) throws X {
        return tryExecute(codecs.forType(type), work);
    }

    /**
     * As {@link #tryExecute(Class, TypedWork)}, for results whose class does not say all, such as lists.
     *
     * @param <T> the type of the result
     * @param <X> the type of exception the work may throw
     * @param codec writes and reads the result
     * @param work the work
     * @return what became of the call
     * @throws X what the work threw, untouched
     */
    public <T extends @Nullable Object, X extends Exception> TypedOutcome<T> tryExecute(
            ResultCodec<T> codec, TypedWork<C, T, X> work) throws X {
        Objects.requireNonNull(work, "work");
        return new TypedCall<>(codec, context -> work.run(contextType.cast(context))).run(idempotency, operation);
    }

    /**
     * As {@link #tryExecute(Class, TypedWork)}, for work without a result.
     *
     * @param <X> the type of exception the work may throw
     * @param work the work
     * @return what became of the call
     * @throws X what the work threw, untouched
     */
    @SuppressWarnings("NullAway") // null is the only Void; outside JSpecify mode the lambda is not seen to return one
    public <X extends Exception> TypedOutcome<@Nullable Void> tryExecute(EffectWork<C, X> work) throws X {
        Objects.requireNonNull(work, "work");
        TypedWork<C, @Nullable Void, X> withoutResult = context -> {
            work.run(context);
            return null;
        };
        return tryExecute(ResultCodec.ofVoid(), withoutResult);
    }

    private KeyedOperation<C> with(Operation changed) {
        return new KeyedOperation<>(idempotency, codecs, changed, contextType);
    }
}
