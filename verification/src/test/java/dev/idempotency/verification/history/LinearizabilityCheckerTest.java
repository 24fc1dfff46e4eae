package dev.idempotency.verification.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.verification.history.Call.Action;
import dev.idempotency.verification.history.Call.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The checker itself, on histories whose verdict is known. */
final class LinearizabilityCheckerTest {
    @Test
    void explain_overlappingClaimsOneAcquired_isExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 4),
                        call(1, Action.CLAIM, 0, Answer.IN_PROGRESS, 2, 3))))
                .isPresent();
    }

    @Test
    void explain_busyBeforeAnybodyClaimed_isNotExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(1, Action.CLAIM, 0, Answer.IN_PROGRESS, 1, 2),
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 3, 4))))
                .isEmpty();
    }

    @Test
    void explain_twoOwnersAtOnce_isNotExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 3),
                        call(1, Action.CLAIM, 8, Answer.ACQUIRED, 2, 4))))
                .isEmpty();
    }

    @Test
    void explain_secondOwnerAfterRelease_isExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 2),
                        call(0, Action.RELEASE, 7, Answer.YES, 3, 6),
                        call(1, Action.CLAIM, 8, Answer.ACQUIRED, 4, 5))))
                .isPresent();
    }

    @Test
    void explain_tokenNotGreaterThanTheLast_isNotExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 2),
                        call(0, Action.RELEASE, 7, Answer.YES, 3, 4),
                        call(1, Action.CLAIM, 7, Answer.ACQUIRED, 5, 6))))
                .isEmpty();
    }

    @Test
    void explain_completionOfALostClaim_isNotExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 2),
                        call(2, Action.END_LEASE, 0, Answer.YES, 3, 4),
                        takeOver(8, 5, 6),
                        call(0, Action.COMPLETE, 7, Answer.YES, 7, 8))))
                .isEmpty();
    }

    @Test
    void explain_lostClaimIsTold_isExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 1, 2),
                        call(2, Action.END_LEASE, 0, Answer.YES, 3, 4),
                        takeOver(8, 5, 6),
                        call(0, Action.COMPLETE, 7, Answer.NO, 7, 8),
                        call(1, Action.COMPLETE, 8, Answer.YES, 9, 10))))
                .isPresent();
    }

    @Test
    void explain_conflictChangesNothing_isExplained() {
        assertThat(LinearizabilityChecker.explain(List.of(
                        call(0, Action.CLAIM, 0, Answer.CONFLICT, 1, 2),
                        call(0, Action.CLAIM, 7, Answer.ACQUIRED, 3, 4))))
                .isPresent();
    }

    private static Call takeOver(long token, long begin, long end) {
        return new Call(1, Action.CLAIM, token, 2, "", Answer.ACQUIRED, false, begin, end);
    }

    private static Call call(int thread, Action action, long token, Answer answer, long begin, long end) {
        return new Call(thread, action, token, answer == Answer.ACQUIRED ? 1 : 0, "", answer, false, begin, end);
    }
}
