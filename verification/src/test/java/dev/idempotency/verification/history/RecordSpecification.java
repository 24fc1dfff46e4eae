package dev.idempotency.verification.history;

import dev.idempotency.verification.history.Call.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one record may answer when nobody else is there: the contract of the stores, in a few lines.
 *
 * @param status what stands in the record's place
 * @param token the token of the last claim that is known of; 0 if the record was forgotten since
 * @param attempt the attempt of that claim
 * @param live whether its lease runs
 * @param otherwise whether it was claimed for the other request
 * @param result what was recorded
 */
record RecordSpecification(Status status, long token, int attempt, boolean live, boolean otherwise, String result) {
    enum Status {
        NONE,
        /** Given back: as good as none, though a row may be left. */
        RELEASED,
        CLAIMED,
        /** Claimed within a transaction: nobody can see for which request. */
        HELD,
        COMPLETED
    }

    static RecordSpecification nothing() {
        return new RecordSpecification(Status.NONE, 0, 0, false, false, "");
    }

    /** The record after the call if it may be answered so; empty if it may not. */
    private Optional<RecordSpecification> after(Call call) {
        if (call.answer() == Answer.CONFLICT) {
            return Optional.of(this);
        }
        return switch (call.action()) {
            case CLAIM -> claim(call, false);
            case CLAIM_OTHERWISE -> claim(call, true);
            case EXTEND -> answered(call, isOwn(call) && live ? Answer.YES : Answer.NO);
            case COMPLETE, COMMIT -> complete(call);
            case RELEASE, ROLL_BACK -> release(call);
            case FORGET -> forget(call);
            case END_LEASE -> Optional.of(new RecordSpecification(status, token, attempt, false, otherwise, result));
        };
    }

    /** All records there may be after the call; none if it may not be answered so. */
    List<RecordSpecification> possiblyAfter(Call call) {
        List<RecordSpecification> possible = new ArrayList<>();
        after(call).ifPresent(possible::add);
        if (call.action() == Call.Action.END_LEASE) {
            // It changes what is committed: a claim whose own short transaction still runs keeps its lease.
            possible.add(this);
        }
        return possible;
    }

    private boolean isOwn(Call call) {
        return (status == Status.CLAIMED || status == Status.HELD) && token == call.token();
    }

    private Optional<RecordSpecification> release(Call call) {
        if (!isOwn(call)) {
            return answered(call, Answer.NO);
        }
        // A rollback leaves nothing, not even the token.
        RecordSpecification then = call.action() == Call.Action.ROLL_BACK
                ? nothing()
                : new RecordSpecification(Status.RELEASED, token, attempt, false, false, "");
        return call.answer() == Answer.YES ? Optional.of(then) : Optional.empty();
    }

    private Optional<RecordSpecification> claim(Call call, boolean other) {
        return switch (status) {
            case NONE -> acquire(call, other, 1);
            // A claim that saw an abandoned one, which was released before it could take over, still counts that one.
            case RELEASED -> acquire(call, other, 1).or(() -> acquire(call, other, attempt + 1));
            case COMPLETED ->
                answered(call, otherwise == other ? Answer.COMPLETED : Answer.MISMATCH)
                        .filter(same -> otherwise != other || call.detail().equals(result));
            case HELD -> answered(call, Answer.IN_PROGRESS);
            case CLAIMED -> {
                if (otherwise != other) {
                    // Until the claim's own short transaction has ended, nobody can see for which request it is.
                    yield answered(call, Answer.MISMATCH).or(() -> answered(call, Answer.IN_PROGRESS));
                }
                yield live ? answered(call, Answer.IN_PROGRESS) : acquire(call, other, attempt + 1);
            }
        };
    }

    private Optional<RecordSpecification> acquire(Call call, boolean other, int next) {
        boolean right = call.answer() == Answer.ACQUIRED && call.attempt() == next && call.token() > token;
        return right
                ? Optional.of(new RecordSpecification(
                        call.joins() ? Status.HELD : Status.CLAIMED, call.token(), next, true, other, ""))
                : Optional.empty();
    }

    private Optional<RecordSpecification> answered(Call call, Answer expected) {
        return call.answer() == expected ? Optional.of(this) : Optional.empty();
    }

    private Optional<RecordSpecification> complete(Call call) {
        if (isOwn(call)) {
            return call.answer() == Answer.YES
                    ? Optional.of(
                            new RecordSpecification(Status.COMPLETED, token, attempt, false, otherwise, call.detail()))
                    : Optional.empty();
        }
        // Said again, it is so already, and the first result stays.
        boolean again = status == Status.COMPLETED && token == call.token();
        return answered(call, again ? Answer.YES : Answer.NO);
    }

    private Optional<RecordSpecification> forget(Call call) {
        return switch (status) {
            case NONE -> answered(call, Answer.NO);
            case RELEASED -> Optional.of(nothing());
            case COMPLETED -> call.answer() == Answer.YES ? Optional.of(nothing()) : Optional.empty();
            case HELD -> answered(call, Answer.NO);
            case CLAIMED -> {
                if (live) {
                    yield answered(call, Answer.NO);
                }
                yield call.answer() == Answer.YES ? Optional.of(nothing()) : Optional.empty();
            }
        };
    }
}
