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

/** Runs the event contracts on stores that break one rule each, and asks which test noticed. */
class ContractsFindBrokenEventStoresTest {
    /** A broken store may never answer; none of the tests that must fail here fails by time alone. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    /** JUnit makes the instances of the contract; this is how they learn what they test. */
    private static volatile Function<InMemoryDatabase, InMemoryEventStore> underTest = InMemoryEventStore::of;

    static Stream<Arguments> offsets() {
        return Stream.of(
                broken(BrokenEventStores.MarksOnItsOwn::new, "mark_rolledBack_leavesNothing"),
                broken(BrokenEventStores.ChecksThenActs::new, "race_overlappingBatches_eachEventTakesEffectOnce"),
                broken(BrokenEventStores.ForgetsTheConsumer::new, "mark_otherConsumer_isFresh"),
                broken(BrokenEventStores.FoldsTheConsumersCase::new, "mark_consumerInOtherCase_isAnotherConsumer"),
                broken(BrokenEventStores.TrimsTheConsumer::new, "mark_consumerWithTrailingSpace_isAnotherConsumer"),
                broken(BrokenEventStores.FoldsTheIdsCase::new, "mark_idsThatLookAlike_areDifferentEvents"),
                broken(BrokenEventStores.CutsIds::new, "mark_idsThatLookAlike_areDifferentEvents"),
                broken(BrokenEventStores.ConfirmsAnyTransaction::new, "confirm_marksOfAnEndedTransaction_isRefused"),
                broken(BrokenEventStores.DeletesYoungMarks::new, "deleteMarks_takesTheOldOnly"),
                broken(BrokenEventStores.DeletesWithoutALimit::new, "deleteMarks_moreThanTheLimit_takesTheLimit"),
                broken(
                        BrokenEventStores.GoesByTheEpochAlone::new,
                        "advance_repeatedAfterAnUnknownCommit_takesEffectOnce"),
                broken(BrokenEventStores.GoesByTheOffsetAlone::new, "advance_oldEpoch_isFenced"),
                broken(
                        BrokenEventStores.TakesOverUnderAnOpenTransaction::new,
                        "assign_formerOwnerHasAdvancedAndNotCommitted_waitsForItOrRefuses"),
                broken(BrokenEventStores.RepeatsEpochs::new, "assign_again_beginsAGreaterEpoch"),
                broken(BrokenEventStores.AdvancesOnItsOwn::new, "advance_rolledBack_leavesNothing"),
                broken(BrokenEventStores.AdvancesInAnyTransaction::new, "advance_marksOfAnEndedTransaction_isRefused"),
                broken(BrokenEventStores.KeepsThirtyTwoBits::new, "advance_beyondThirtyTwoBits_isKept"),
                broken(
                        BrokenEventStores.SuspectsNobody::new,
                        "assign_afterAnOwnerWhoAdvancedNothing_isSuspectUntilTheNextAdvance"),
                broken(BrokenEventStores.CountsEachStart::new, "start_underEachAssignment_countsOnce"),
                broken(BrokenEventStores.CountsStartsOfZombies::new, "start_endedAssignment_isRefusedAndNotCounted"),
                broken(BrokenEventStores.NeverSettles::new, "settle_forgetsTheStarts"),
                broken(BrokenEventStores.GoesByTheTopicsName::new, "advance_topicCreatedAgain_standsApart"));
    }

    static Stream<Arguments> parked() {
        return Stream.of(
                broken(BrokenEventStores.ParksOnItsOwn::new, "park_rolledBack_leavesNothing"),
                broken(BrokenEventStores.ParksWithAMark::new, "park_doesNotMark"),
                broken(BrokenEventStores.DropsHeaders::new, "park_everyPart_isKept"),
                broken(
                        BrokenEventStores.ReplaysWithoutALock::new,
                        "lockParked_whileAnotherReplays_waitsForItOrRefuses"),
                broken(BrokenEventStores.FindsEverybodysParked::new, "findParked_otherConsumer_standsApart"),
                broken(BrokenEventStores.TurnsNoPage::new, "findParked_pageAfterPage_givesEachEventOnce"),
                broken(BrokenEventStores.FindsTheLastOfAKey::new, "lockFirstParked_severalOfTheKey_givesTheFirst"));
    }

    private static Arguments broken(Function<InMemoryDatabase, InMemoryEventStore> store, String noticedBy) {
        return Arguments.argumentSet(
                store.apply(InMemoryDatabase.create()).getClass().getSimpleName(), store, noticedBy);
    }

    @ParameterizedTest
    @MethodSource("offsets")
    void offsetContract_brokenStore_isFound(Function<InMemoryDatabase, InMemoryEventStore> store, String noticedBy) {
        assertThat(failures(OffsetContractOnBrokenStore.class, store)).contains(noticedBy);
    }

    @ParameterizedTest
    @MethodSource("parked")
    void parkedContract_brokenStore_isFound(Function<InMemoryDatabase, InMemoryEventStore> store, String noticedBy) {
        assertThat(failures(ParkedContractOnBrokenStore.class, store)).contains(noticedBy);
    }

    /** The names of the tests that failed. */
    private static Set<String> failures(Class<?> contract, Function<InMemoryDatabase, InMemoryEventStore> store) {
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

    static class OffsetContractOnBrokenStore extends InMemoryOffsetStoreTest {
        OffsetContractOnBrokenStore() {
            store = underTest.apply(events.database);
        }

        @Override
        protected Duration deadline() {
            return SHORT;
        }
    }

    static class ParkedContractOnBrokenStore extends InMemoryParkedStoreTest {
        ParkedContractOnBrokenStore() {
            store = underTest.apply(events.database);
        }

        @Override
        protected Duration deadline() {
            return SHORT;
        }
    }
}
