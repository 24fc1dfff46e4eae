package dev.idempotency;

import dev.idempotency.operation.ResultCodec;
import dev.idempotency.operation.ResultNotEncodedException;
import dev.idempotency.operation.ResultUnreadableException;
import dev.idempotency.operation.TypedOutcome;
import dev.idempotency.operation.TypedWork;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of typed work: writes its result for the record, and reads the record of an earlier one.
 *
 * <p>The record's metadata tell by {@code typed-1 KIND FORMAT} what the body is; a null has a kind of its own and no body.
 */
final class TypedCall<T extends @Nullable Object, X extends Exception> implements OperationWork<X> {
    private static final String LAYOUT = "typed-1";
    private static final String VALUE = "value";
    private static final String NULL = "null";
    private static final byte[] NOTHING = {};

    private final ResultCodec<T> codec;
    private final TypedWork<IdempotencyContext, T, X> work;

    /** Of the last run; there is more than one only after a transaction was lost and left nothing. */
    private @Nullable T value;

    /** What an earlier call has recorded, once it has been read. */
    private @Nullable TypedOutcome<T> replayed;

    TypedCall(ResultCodec<T> codec, TypedWork<IdempotencyContext, T, X> work) {
        this.codec = codec;
        this.work = work;
    }

    TypedOutcome<T> run(Idempotency idempotency, Operation operation) throws X {
        return typed(idempotency.execute(operation, this, any -> {}, this::readable));
    }

    private boolean readable(RecordedResult.Replayable recorded) {
        TypedOutcome<T> earlier = read(recorded);
        replayed = earlier;
        return !(earlier instanceof TypedOutcome.Unreadable);
    }

    @Override
    public WorkResult run(IdempotencyContext context) throws X {
        T result = work.run(context);
        value = result;
        return new WorkResult.Succeeded(write(result));
    }

    private RecordedResult.Replayable write(T result) {
        if (result == null) {
            return new RecordedResult.Replayable(0, metadata(NULL), NOTHING);
        }
        try {
            return new RecordedResult.Replayable(0, metadata(VALUE), codec.encode(result));
        } catch (IOException | RuntimeException e) {
            throw new ResultNotEncodedException(codec.format(), e);
        }
    }

    private byte[] metadata(String kind) {
        return String.join(" ", LAYOUT, kind, codec.format()).getBytes(StandardCharsets.US_ASCII);
    }

    @SuppressWarnings("NullAway") // null only where T has it: the work returned it
    private TypedOutcome<T> typed(OperationOutcome outcome) {
        if (outcome instanceof OperationOutcome.Executed) {
            return new TypedOutcome.Executed<>(value);
        }
        return replayed == null ? new TypedOutcome.WithoutResult<>(outcome) : replayed;
    }

    @SuppressWarnings("NullAway") // null only where T has it: the first work returned it
    private TypedOutcome<T> read(RecordedResult.Replayable recorded) {
        List<String> parts = List.of(new String(recorded.metadata(), StandardCharsets.US_ASCII).split(" ", -1));
        if (parts.size() != 3 || !parts.get(0).equals(LAYOUT)) {
            return unreadable(
                    "", "The record under this key was written by no typed operation that this version knows", null);
        }
        String format = parts.get(2);
        if (!codec.reads(format)) {
            return unreadable(
                    format,
                    "The result under this key was written as " + format + ", and the codec of " + codec.format()
                            + " does not read it: add alsoReading(\"" + format + "\", …)",
                    null);
        }
        if (parts.get(1).equals(NULL)) {
            return new TypedOutcome.Replayed<>(null);
        }
        try {
            return new TypedOutcome.Replayed<>(
                    codec.decode(format, recorded.body().clone()));
        } catch (IOException | RuntimeException e) {
            return unreadable(
                    format, "The result under this key was written as " + format + ", and its decoder refuses it", e);
        }
    }

    private TypedOutcome<T> unreadable(String format, String message, @Nullable Exception cause) {
        return new TypedOutcome.Unreadable<>(new ResultUnreadableException(format, message, cause));
    }
}
