package dev.idempotency.verification.history;

/**
 * One call of a store in a recorded history.
 *
 * @param thread who called
 * @param action what was called
 * @param token the fencing token: of the claim that was got or used, 0 where there is none
 * @param attempt the attempt that was got, 0 where none was
 * @param detail what was written, or found written: the text of the result; empty where there is none
 * @param answer what came back
 * @param joins whether the claim was made within a transaction
 * @param begin when it began: a number greater than those of all calls and answers before
 * @param end when it came back
 */
record Call(
        int thread,
        Action action,
        long token,
        int attempt,
        String detail,
        Answer answer,
        boolean joins,
        long begin,
        long end) {
    enum Action {
        CLAIM,
        /** A claim of the same record for another request. */
        CLAIM_OTHERWISE,
        EXTEND,
        COMPLETE,
        RELEASE,
        FORGET,
        /** Not a call of the store: time passes, so that the lease held now is over. */
        END_LEASE,
        /** Completion and commit of a claim within a transaction. */
        COMMIT,
        ROLL_BACK
    }

    enum Answer {
        ACQUIRED,
        IN_PROGRESS,
        COMPLETED,
        MISMATCH,
        YES,
        NO,
        /** A typed refusal that says that nothing was changed. */
        CONFLICT
    }

    @Override
    public String toString() {
        return String.format(
                "%3d to %3d  thread %d  %s%s -> %s%s%s",
                begin,
                end,
                thread,
                action,
                token != 0 && answer != Answer.ACQUIRED ? " of " + token % 1_000_000 : "",
                answer,
                answer == Answer.ACQUIRED ? " " + token % 1_000_000 + ", attempt " + attempt : "",
                detail.isEmpty() ? "" : " \"" + detail + "\"");
    }
}
