package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.Caller;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.RecordedResult.NotReplayable;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.spi.AbandonedPolicy;
import dev.idempotency.spi.Claim;
import dev.idempotency.spi.ClaimOutcome;
import dev.idempotency.spi.ClaimRequest;
import dev.idempotency.spi.IdempotencyStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What both abilities of an operation store have in common: identity of records, what is kept of a result, retention,
 * house-keeping. Inherited through {@link TransactionalIdempotencyStoreContract} and {@link
 * LeasedIdempotencyStoreContract}.
 */
public abstract class IdempotencyStoreContract {
    private static final Logger log = LoggerFactory.getLogger(IdempotencyStoreContract.class);

    static final Fingerprint ASKED = Fingerprint.sha256("contract", "asked".getBytes(StandardCharsets.UTF_8));
    static final Fingerprint OTHER = Fingerprint.sha256("contract", "other".getBytes(StandardCharsets.UTF_8));
    static final Duration RETENTION = Duration.ofHours(24);

    private final AtomicInteger keys = new AtomicInteger();

    /** For subclasses. */
    protected IdempotencyStoreContract() {}

    /**
     * Returns the store under test, the same one throughout a test.
     *
     * @return the store
     */
    protected abstract IdempotencyStore store();

    /**
     * Lets time pass for every record of the store, without sleeping: by moving its clock or the records' times.
     *
     * @param duration how long
     */
    protected abstract void passTime(Duration duration);

    /**
     * Returns how long a test waits before it fails: for threads, for answers, for a server to notice a cut connection.
     *
     * @return 60 s unless overridden, long enough for a busy machine
     */
    protected Duration deadline() {
        return Duration.ofSeconds(60);
    }

    /** Claims, and gives a claim that was had back, so that nothing is left of it. */
    abstract ClaimOutcome probe(ClaimRequest request);

    /** Claims and completes, and returns the claim. */
    abstract Claim record(ClaimRequest request, RecordedResult result);

    final RecordId freshId() {
        return freshId(Scope.shared("contract"));
    }

    final RecordId freshId(Scope scope) {
        return new RecordId(scope, IdempotencyKey.of("key-" + keys.incrementAndGet()));
    }

    /** Sweeps as a busy instance does, whatever the sweep meets. */
    final void sweep() {
        try {
            store().deleteExpired(10);
        } catch (IdempotencyException e) {
            log.debug("A sweep met something, as it may", e);
        }
    }

    static ClaimRequest request(RecordId id) {
        return request(id, ASKED);
    }

    static ClaimRequest request(RecordId id, Fingerprint fingerprint) {
        return new ClaimRequest(id, fingerprint, RETENTION, AbandonedPolicy.REPORT_UNKNOWN);
    }

    static ClaimRequest request(RecordId id, Duration retention) {
        return new ClaimRequest(id, ASKED, retention, AbandonedPolicy.REPORT_UNKNOWN);
    }

    static RecordedResult answer(String body) {
        return new Replayable(201, bytes("meta"), bytes(body));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Claim acquired(ClaimOutcome outcome) {
        assertThat(outcome).isInstanceOf(ClaimOutcome.Acquired.class);
        return ((ClaimOutcome.Acquired) outcome).claim();
    }

    private void assertFree(RecordId id) {
        acquired(probe(request(id)));
    }

    private void assertTwoRecords(RecordId one, RecordId other) {
        record(request(one), answer("one"));
        assertFree(other);
        record(request(other), answer("other"));
        assertThat(probe(request(one))).isEqualTo(new ClaimOutcome.Completed(answer("one")));
        assertThat(probe(request(other))).isEqualTo(new ClaimOutcome.Completed(answer("other")));
    }

    private void assertKept(RecordedResult result) {
        RecordId id = freshId();
        record(request(id), result);
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(result));
    }

    private static RecordId id(Scope scope, String key) {
        return new RecordId(scope, IdempotencyKey.of(key));
    }

    @Test
    void claim_freshKey_isTheFirstAttempt() {
        assertThat(acquired(probe(request(freshId()))).attempt()).isEqualTo(1);
    }

    @Test
    void claim_acquired_carriesTheRequest() {
        ClaimRequest request = request(freshId());

        assertThat(acquired(probe(request)).request()).isEqualTo(request);
    }

    @Test
    void claim_completed_givesTheResult() {
        RecordId id = freshId();
        record(request(id), answer("first"));

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void claim_completedNotReplayable_saysSo() {
        assertKept(new NotReplayable(200, "larger than 1 MiB"));
    }

    @Test
    void claim_completedOtherFingerprint_isMismatch() {
        RecordId id = freshId();
        record(request(id), answer("first"));

        assertThat(probe(request(id, OTHER))).isEqualTo(new ClaimOutcome.Mismatch());
    }

    @Test
    void claim_noFingerprintOnTheRepeat_matches() {
        RecordId id = freshId();
        record(request(id), answer("first"));

        assertThat(probe(request(id, Fingerprint.none()))).isInstanceOf(ClaimOutcome.Completed.class);
    }

    @Test
    void claim_noFingerprintOnTheFirst_matches() {
        RecordId id = freshId();
        record(request(id, Fingerprint.none()), answer("first"));

        assertThat(probe(request(id))).isInstanceOf(ClaimOutcome.Completed.class);
    }

    @Test
    void claim_longestFingerprints_differInTheirLastByte() {
        byte[] one = new byte[Fingerprint.MAX_LENGTH];
        byte[] other = one.clone();
        other[other.length - 1] = 1;
        RecordId id = freshId();
        record(request(id, Fingerprint.of(one)), answer("first"));

        assertThat(probe(request(id, Fingerprint.of(one)))).isInstanceOf(ClaimOutcome.Completed.class);
        assertThat(probe(request(id, Fingerprint.of(other)))).isEqualTo(new ClaimOutcome.Mismatch());
    }

    @Test
    void claim_keyInOtherCase_isAnotherRecord() {
        Scope scope = Scope.shared("case");
        assertTwoRecords(id(scope, "Order-a"), id(scope, "order-A"));
    }

    @Test
    void claim_keyWithTrailingSpace_isAnotherRecord() {
        Scope scope = Scope.shared("trailing");
        assertTwoRecords(id(scope, "key"), id(scope, "key "));
    }

    @Test
    void claim_keyWithLeadingSpace_isAnotherRecord() {
        Scope scope = Scope.shared("leading");
        assertTwoRecords(id(scope, "key"), id(scope, " key"));
    }

    @Test
    void claim_keyWithQuotesAndPatterns_isTakenLiterally() {
        Scope scope = Scope.shared("literal");
        assertTwoRecords(id(scope, "%_'\"\\?:x{}$1"), id(scope, "a_'\"\\?:x{}$1"));
    }

    @Test
    void claim_everyAllowedCharacter_isKeptApart() {
        Scope scope = Scope.shared("characters");
        for (char character = 0x21; character <= 0x7e; character++) {
            record(request(id(scope, "c" + character)), answer(String.valueOf(character)));
        }
        for (char character = 0x21; character <= 0x7e; character++) {
            assertThat(probe(request(id(scope, "c" + character))))
                    .isEqualTo(new ClaimOutcome.Completed(answer(String.valueOf(character))));
        }
    }

    @Test
    void claim_longestKeys_differInTheirLastCharacter() {
        Scope scope = Scope.shared("long");
        String start = "k".repeat(IdempotencyKey.MAX_LENGTH - 1);
        assertTwoRecords(id(scope, start + "a"), id(scope, start + "b"));
    }

    @Test
    void claim_otherTenant_isAnotherRecord() {
        assertTwoRecords(
                id(Scope.shared("op").withTenant("one"), "tenant"),
                id(Scope.shared("op").withTenant("two"), "tenant"));
    }

    @Test
    void claim_otherPrincipal_isAnotherRecord() {
        assertTwoRecords(
                id(Scope.ofPrincipal("ann", "op"), "principal"), id(Scope.ofPrincipal("bob", "op"), "principal"));
    }

    @Test
    void claim_otherKindOfCaller_isAnotherRecord() {
        assertTwoRecords(id(Scope.anonymous("op"), "kind"), id(Scope.shared("op"), "kind"));
    }

    @Test
    void claim_principalNamedLikeAKind_isAnotherRecord() {
        assertTwoRecords(id(Scope.anonymous("op"), "named"), id(Scope.ofPrincipal("anonymous", "op"), "named"));
    }

    @Test
    void claim_otherOperation_isAnotherRecord() {
        assertTwoRecords(id(Scope.shared("POST /orders"), "op"), id(Scope.shared("POST /orders/"), "op"));
    }

    @Test
    void claim_scopePartsThatRunTogether_areAnotherRecord() {
        assertTwoRecords(
                id(new Scope("a", new Caller.Principal("bc"), "op"), "together"),
                id(new Scope("ab", new Caller.Principal("c"), "op"), "together"));
    }

    @Test
    void claim_longestOperations_differInTheirLastCharacter() {
        String start = "o".repeat(4095);
        assertTwoRecords(id(Scope.shared(start + "a"), "long-op"), id(Scope.shared(start + "b"), "long-op"));
    }

    @Test
    void claim_operationWithAnyCharacter_isKept() {
        String strange = "Ünï 漢字 \uD83D\uDE00 \u0000 \t \uD800 end";
        assertTwoRecords(id(Scope.shared(strange), "strange"), id(Scope.shared(strange + "\u0000"), "strange"));
    }

    @Test
    void claim_tenantAndPrincipalWithAnyCharacter_areKept() {
        assertTwoRecords(
                id(new Scope("\u0000漢", new Caller.Principal("é\u0000"), "op"), "strange"),
                id(new Scope("\u0000漢", new Caller.Principal("é"), "op"), "strange"));
    }

    @Test
    void claim_resultWithEveryByte_isKept() {
        byte[] every = new byte[256];
        for (int i = 0; i < every.length; i++) {
            every[i] = (byte) i;
        }
        assertKept(new Replayable(200, every, every.clone()));
    }

    @Test
    void claim_emptyResult_isKept() {
        assertKept(new Replayable(0, new byte[0], new byte[0]));
    }

    @Test
    void claim_largeResult_isKept() {
        byte[] body = new byte[5 * 1024 * 1024];
        new Random(1).nextBytes(body);
        assertKept(new Replayable(200, new byte[64 * 1024], body));
    }

    @Test
    void claim_statusAtItsLimits_isKept() {
        assertKept(new Replayable(Integer.MAX_VALUE, new byte[0], new byte[0]));
        assertKept(new Replayable(Integer.MIN_VALUE, new byte[0], new byte[0]));
    }

    @Test
    void claim_longestReason_isKept() {
        assertKept(new NotReplayable(0, "漢".repeat(200)));
        assertKept(new NotReplayable(503, ""));
    }

    @Test
    void claim_beforeTheEndOfRetention_isCompleted() {
        RecordId id = freshId();
        record(request(id, Duration.ofHours(2)), answer("first"));
        passTime(Duration.ofMinutes(119));

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void claim_afterRetention_isAcquiredAsIfNothingHadBeen() {
        RecordId id = freshId();
        record(request(id, Duration.ofHours(2)), answer("first"));
        passTime(Duration.ofHours(2));

        assertThat(acquired(probe(request(id))).attempt()).isEqualTo(1);
        record(request(id), answer("second"));
        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("second")));
    }

    @Test
    void claim_afterRetentionOtherFingerprint_isNoMismatch() {
        RecordId id = freshId();
        record(request(id, Duration.ofHours(2)), answer("first"));
        passTime(Duration.ofHours(3));

        record(request(id, OTHER), answer("second"));
        assertThat(probe(request(id, OTHER))).isEqualTo(new ClaimOutcome.Completed(answer("second")));
        assertThat(probe(request(id, ASKED))).isEqualTo(new ClaimOutcome.Mismatch());
    }

    @Test
    void claim_shortestRetention_ends() {
        RecordId id = freshId();
        record(request(id, Duration.ofSeconds(1)), answer("first"));
        passTime(Duration.ofSeconds(1));

        assertFree(id);
    }

    @Test
    void claim_longestRetention_lasts() {
        RecordId id = freshId();
        record(request(id, Duration.ofDays(3660)), answer("first"));
        passTime(Duration.ofDays(3659));

        assertThat(probe(request(id))).isEqualTo(new ClaimOutcome.Completed(answer("first")));
    }

    @Test
    void claim_afterRetention_hasAGreaterToken() {
        RecordId id = freshId();
        long first = record(request(id, Duration.ofSeconds(1)), answer("first")).token();
        passTime(Duration.ofSeconds(2));

        assertThat(acquired(probe(request(id))).token()).isGreaterThan(first);
    }

    @Test
    void forget_completed_freesTheKey() {
        RecordId id = freshId();
        RecordId bystander = freshId();
        record(request(id), answer("first"));
        record(request(bystander), answer("other"));

        assertThat(store().forget(id)).isTrue();
        assertFree(id);
        assertThat(probe(request(bystander))).isEqualTo(new ClaimOutcome.Completed(answer("other")));
    }

    @Test
    void forget_nothingThere_isFalse() {
        assertThat(store().forget(freshId())).isFalse();
    }

    @Test
    void forget_sameKeyOfAnotherScope_isLeftAlone() {
        RecordId one = id(Scope.shared("one"), "forget");
        RecordId other = id(Scope.shared("other"), "forget");
        record(request(one), answer("one"));
        record(request(other), answer("other"));

        store().forget(one);

        assertThat(probe(request(other))).isEqualTo(new ClaimOutcome.Completed(answer("other")));
    }

    @Test
    void forgetCaller_takesAllOperationsOfThatCallerOnly() {
        RecordId first = freshId(Scope.ofPrincipal("erased", "one"));
        RecordId second = freshId(Scope.ofPrincipal("erased", "two"));
        RecordId otherTenant = freshId(Scope.ofPrincipal("erased", "one").withTenant("t"));
        RecordId otherCaller = freshId(Scope.ofPrincipal("kept", "one"));
        for (RecordId id : new RecordId[] {first, second, otherTenant, otherCaller}) {
            record(request(id), answer("answer"));
        }

        assertThat(store().forgetCaller(Scope.ofPrincipal("erased", "any"), 100))
                .isEqualTo(2);
        assertFree(first);
        assertFree(second);
        assertThat(probe(request(otherTenant))).isInstanceOf(ClaimOutcome.Completed.class);
        assertThat(probe(request(otherCaller))).isInstanceOf(ClaimOutcome.Completed.class);
    }

    @Test
    void forgetCaller_moreThanTheLimit_takesTheLimit() {
        Scope scope = Scope.ofPrincipal("many", "op");
        for (int i = 0; i < 5; i++) {
            record(request(freshId(scope)), answer("answer"));
        }

        assertThat(store().forgetCaller(scope, 3)).isEqualTo(3);
        assertThat(store().forgetCaller(scope, 3)).isEqualTo(2);
        assertThat(store().forgetCaller(scope, 3)).isZero();
    }

    @Test
    void deleteExpired_takesWhatHasExpiredOnly() {
        RecordId expired = freshId();
        RecordId kept = freshId();
        record(request(expired, Duration.ofHours(1)), answer("expired"));
        record(request(kept, Duration.ofHours(3)), answer("kept"));
        passTime(Duration.ofHours(2));

        assertThat(store().deleteExpired(100)).isEqualTo(1);
        assertThat(store().deleteExpired(100)).isZero();
        assertFree(expired);
        assertThat(probe(request(kept))).isEqualTo(new ClaimOutcome.Completed(answer("kept")));
    }

    @Test
    void deleteExpired_moreThanTheLimit_takesTheLimit() {
        for (int i = 0; i < 5; i++) {
            record(request(freshId(), Duration.ofHours(1)), answer("expired"));
        }
        passTime(Duration.ofHours(2));

        assertThat(store().deleteExpired(3)).isEqualTo(3);
        assertThat(store().deleteExpired(3)).isEqualTo(2);
    }

    @Test
    void houseKeeping_limitOutOfRange_isRefused() {
        Scope scope = Scope.shared("limits");
        assertThatIllegalArgumentException().isThrownBy(() -> store().deleteExpired(0));
        assertThatIllegalArgumentException().isThrownBy(() -> store().deleteExpired(10_001));
        assertThatIllegalArgumentException().isThrownBy(() -> store().forgetCaller(scope, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> store().forgetCaller(scope, 10_001));
    }
}
