package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the contracts on stores that break one rule each, and asks which test noticed. */
class ContractsFindBrokenStoresTest {
    /** A broken store may never answer; none of the tests that must fail here fails by time alone. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    /** JUnit makes the instances of the contract; this is how they learn what they test. */
    private static volatile Function<InMemoryDatabase, InMemoryIdempotencyStore> underTest =
            InMemoryIdempotencyStore::of;

    static Stream<Arguments> transactional() {
        return Stream.of(
                broken(BrokenStores.CommitsOnItsOwn::new, "complete_rolledBack_leavesNothing"),
                broken(BrokenStores.LosesAnUpdate::new, "complete_twice_isRefused"),
                broken(BrokenStores.LooksUpBeforeItLocks::new, "race_oneFreshKey_runsOnce"),
                broken(BrokenStores.TakesNoLock::new, "claim_whileAnotherRuns_isInProgressAtOnce"),
                broken(BrokenStores.CompletesInAnyTransaction::new, "complete_claimOfAnEndedTransaction_isRefused"),
                broken(BrokenStores.KeepsTheClaimAfterARollback::new, "claim_rolledBack_leavesNothing"),
                broken(BrokenStores.ForgetsExpiry::new, "claim_afterRetention_isAcquiredAsIfNothingHadBeen"),
                broken(BrokenStores.ForgetsTooEarly::new, "claim_beforeTheEndOfRetention_isCompleted"),
                broken(BrokenStores.FoldsCase::new, "claim_keyInOtherCase_isAnotherRecord"),
                broken(BrokenStores.IgnoresTrailingSpaces::new, "claim_keyWithTrailingSpace_isAnotherRecord"),
                broken(BrokenStores.CutsKeys::new, "claim_longestKeys_differInTheirLastCharacter"),
                broken(BrokenStores.IgnoresTheScope::new, "claim_otherTenant_isAnotherRecord"),
                broken(BrokenStores.JoinsTheScopesParts::new, "claim_scopePartsThatRunTogether_areAnotherRecord"),
                broken(BrokenStores.IgnoresTheFingerprint::new, "claim_completedOtherFingerprint_isMismatch"),
                broken(BrokenStores.CutsBodies::new, "claim_largeResult_isKept"),
                broken(BrokenStores.SweepsWhatIsNotExpired::new, "deleteExpired_takesWhatHasExpiredOnly"),
                broken(BrokenStores.SweepsWithoutALimit::new, "deleteExpired_moreThanTheLimit_takesTheLimit"),
                broken(BrokenStores.ForgetsWhatRuns::new, "forget_whileItRuns_isFalseAndChangesNothing"),
                broken(
                        BrokenStores.ForgetsCallersOfOtherTenants::new,
                        "forgetCaller_takesAllOperationsOfThatCallerOnly"));
    }

    static Stream<Arguments> leased() {
        return Stream.of(
                broken(BrokenStores.ForgetsExpiry::new, "claim_abandonedAndPastRetention_isAFirstAttempt"),
                broken(
                        BrokenStores.ComparesTheFingerprintWhenCompleted::new,
                        "claim_whileTheLeaseRunsOtherFingerprint_isMismatch"),
                broken(BrokenStores.SweepsRunningClaims::new, "deleteExpired_leavesRunningClaimsPastRetention"),
                broken(BrokenStores.ForgetsWhatRuns::new, "forget_runningClaim_isFalseAndLeavesIt"),
                broken(BrokenStores.IgnoresTheToken::new, "complete_afterTakeOver_isRefusedAndLeavesTheSuccessorAlone"),
                broken(
                        BrokenStores.KnowsItsClaimByTheToken::new,
                        "commit_ofAClaimLostOnItsWayAndSucceeded_isNotTakenForOnesOwn"),
                broken(BrokenStores.KnowsItsClaimByTheToken::new, "claimOfAnotherWithTheSameToken_changesNothing"),
                broken(BrokenStores.EndsReleasedClaimsAgain::new, "complete_afterRelease_isRefused"),
                broken(BrokenStores.EndsReleasedClaimsAgain::new, "release_twice_isRefused"),
                broken(BrokenStores.RevivesEndedLeases::new, "extend_ended_isRefusedAndDoesNotReviveIt"),
                broken(BrokenStores.RepeatsTokens::new, "claim_longRowOfOwners_tokensGrow"),
                broken(BrokenStores.RunsAbandonedWorkUnasked::new, "claim_abandoned_isReportedAsUnknown"),
                broken(BrokenStores.CountsRetentionFromCompletion::new, "complete_retention_countsFromTheClaim"),
                broken(BrokenStores.ReleasesWhatIsCompleted::new, "release_afterCompletion_keepsTheResult"));
    }

    private static Arguments broken(Function<InMemoryDatabase, InMemoryIdempotencyStore> store, String noticedBy) {
        return Arguments.argumentSet(
                store.apply(InMemoryDatabase.create()).getClass().getSimpleName(), store, noticedBy);
    }

    @ParameterizedTest
    @MethodSource("transactional")
    void transactionalContract_brokenStore_isFound(
            Function<InMemoryDatabase, InMemoryIdempotencyStore> store, String noticedBy) {
        assertThat(failures(TransactionalContractOnBrokenStore.class, store)).contains(noticedBy);
    }

    @ParameterizedTest
    @MethodSource("leased")
    void leasedContract_brokenStore_isFound(
            Function<InMemoryDatabase, InMemoryIdempotencyStore> store, String noticedBy) {
        assertThat(failures(LeasedContractOnBrokenStore.class, store)).contains(noticedBy);
    }

    /** The names of the tests that failed. */
    private static Set<String> failures(Class<?> contract, Function<InMemoryDatabase, InMemoryIdempotencyStore> store) {
        Set<String> failed = new TreeSet<>();
        underTest = store;
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(contract))
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                if (test.isTest() && result.getStatus() == TestExecutionResult.Status.FAILED) {
                                    failed.add(test.getDisplayName().replace("()", ""));
                                }
                            }
                        });
        return failed;
    }

    static class TransactionalContractOnBrokenStore extends InMemoryTransactionalStoreTest {
        TransactionalContractOnBrokenStore() {
            store = underTest.apply(database);
        }

        @Override
        protected Duration deadline() {
            return SHORT;
        }
    }

    static class LeasedContractOnBrokenStore extends InMemoryLeasedStoreTest {
        LeasedContractOnBrokenStore() {
            store = underTest.apply(database);
        }

        @Override
        protected Duration deadline() {
            return SHORT;
        }
    }
}
