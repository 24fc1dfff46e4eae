package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.spi.ClaimingOutboxStore;
import dev.idempotency.spi.OutboxClaim;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxQuery;
import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.OutboxRowId;
import dev.idempotency.spi.PublishedRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What every {@link ClaimingOutboxStore} must do. */
public abstract class ClaimingOutboxStoreContract extends OutboxStoreContract {
    private final Map<Long, Long> tokens = new HashMap<>();

    /** For subclasses. */
    protected ClaimingOutboxStoreContract() {}

    @Override
    protected abstract ClaimingOutboxStore store();

    @Override
    final List<OutboxRow> take(OutboxQuery query) {
        OutboxClaim claim = store().claim("contract", LEASE, query);
        claim.rows().forEach(row -> tokens.put(row.sequence(), claim.token()));
        return claim.rows();
    }

    @Override
    final void publish(List<OutboxRow> rows) {
        for (OutboxRow row : rows) {
            assertThat(store().markPublished(token(row), List.of(row.id()), PublishedRows.KEEP))
                    .isOne();
        }
    }

    @Override
    final void release(List<OutboxRow> rows) {
        for (OutboxRow row : rows) {
            assertThat(store().release(token(row), List.of(row.id()))).isOne();
        }
    }

    private long token(OutboxRow row) {
        Long token = tokens.get(row.sequence());
        assertThat(token).isNotNull();
        return token;
    }

    private OutboxClaim claim() {
        return store().claim("contract", LEASE, new OutboxQuery(0, 100, Set.of()));
    }

    @Test
    final void claim_claimed_isNotClaimedTwice() {
        appendMany(3);

        assertThat(claim().rows()).hasSize(3);
        assertThat(claim().rows()).isEmpty();
    }

    @Test
    final void claim_manyAtOnce_eachRowOnce() {
        int rounds = TestSize.rounds(10);
        try (Crew crew = new Crew(4, DEADLINE)) {
            for (int round = 0; round < rounds; round++) {
                appendMany(40);
                List<OutboxClaim> claims = crew.together(
                        member -> store().claim("relay-" + member, LEASE, new OutboxQuery(0, 15, Set.of())));
                List<Long> taken = new ArrayList<>();
                claims.forEach(claim -> taken.addAll(sequences(claim.rows())));
                OutboxClaim rest = claim();
                taken.addAll(sequences(rest.rows()));
                assertThat(taken).hasSize(40).doesNotHaveDuplicates();
                assertThat(claims).allSatisfy(claim -> assertThat(claim.rows()).hasSizeLessThanOrEqualTo(15));
                Set<Long> distinct = new HashSet<>();
                claims.forEach(claim -> distinct.add(claim.token()));
                assertThat(distinct).hasSize(4);
            }
        }
    }

    @Test
    final void claim_leaseEnded_isClaimedAtOnce() {
        appendMany(2);
        claim();
        passTime(LEASE.minusSeconds(5));
        assertThat(claim().rows()).isEmpty();

        passTime(Duration.ofSeconds(6));

        assertThat(claim().rows())
                .hasSize(2)
                .allSatisfy(row -> assertThat(row.attempts()).isZero());
    }

    @Test
    final void mark_sequenceUsedAgain_hitsNothing() {
        appendMany(2);
        OutboxClaim claim = claim();
        List<OutboxRowId> earlier = ofEarlierEvents(claim.rows());

        for (PublishedRows rows : PublishedRows.values()) {
            assertThat(store().markPublished(claim.token(), earlier, rows)).isZero();
        }
        assertThat(store().markFailed(claim.token(), failuresOf(earlier))).isZero();
        assertThat(store().release(claim.token(), earlier)).isZero();

        assertThat(store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.DELETE))
                .isEqualTo(2);
    }

    @Test
    final void markPublished_claimLost_changesNothing() {
        appendMany(1);
        OutboxClaim lost = claim();
        passTime(LEASE.plusSeconds(1));
        OutboxClaim present = claim();

        for (PublishedRows rows : PublishedRows.values()) {
            assertThat(store().markPublished(lost.token(), rowIds(lost.rows()), rows))
                    .isZero();
        }

        assertThat(store().markPublished(present.token(), rowIds(present.rows()), PublishedRows.KEEP))
                .isOne();
    }

    @Test
    final void markFailed_claimLost_doesNotBringAPublishedRowBack() {
        appendMany(1);
        OutboxClaim lost = claim();
        passTime(LEASE.plusSeconds(1));
        OutboxClaim present = claim();
        store().markPublished(present.token(), rowIds(present.rows()), PublishedRows.KEEP);

        assertThat(store().markFailed(lost.token(), List.of(failure(lost.rows().get(0), false, Duration.ZERO))))
                .isZero();
        assertThat(store().markFailed(
                                present.token(), List.of(failure(lost.rows().get(0), false, Duration.ZERO))))
                .isZero();
        assertThat(store().release(lost.token(), rowIds(lost.rows()))).isZero();
        assertThat(store().release(present.token(), rowIds(lost.rows()))).isZero();

        passTime(Duration.ofDays(1));
        assertThat(claim().rows()).isEmpty();
    }

    @Test
    final void release_claimLost_leavesTheSuccessorsClaim() {
        appendMany(1);
        OutboxClaim lost = claim();
        passTime(LEASE.plusSeconds(1));
        claim();

        assertThat(store().release(lost.token(), rowIds(lost.rows()))).isZero();
        assertThat(store().markFailed(lost.token(), List.of(failure(lost.rows().get(0), true, Duration.ZERO))))
                .isZero();

        assertThat(claim().rows()).isEmpty();
    }

    @Test
    final void markPublished_twice_isZeroTheSecondTime() {
        appendMany(2);
        OutboxClaim claim = claim();

        assertThat(store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.DELETE))
                .isEqualTo(2);
        assertThat(store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.DELETE))
                .isZero();
    }

    @Test
    final void markPublished_keep_isDeletedAfterItsRetentionOnly() {
        appendMany(2);
        OutboxClaim claim = claim();
        store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.KEEP);
        appendMany(1);

        assertThat(store().deletePublished(Duration.ofHours(1), 100)).isZero();
        passTime(Duration.ofHours(2));

        assertThat(store().deletePublished(Duration.ofHours(1), 1)).isOne();
        assertThat(store().deletePublished(Duration.ofHours(1), 100)).isOne();
        assertThat(store().deletePublished(Duration.ofHours(1), 100)).isZero();
        assertThat(claim().rows()).hasSize(1);
    }

    @Test
    final void markPublished_delete_leavesNothingToCleanUp() {
        appendMany(2);
        OutboxClaim claim = claim();
        store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.DELETE);
        passTime(Duration.ofDays(1));

        assertThat(store().deletePublished(Duration.ofHours(1), 100)).isZero();
        assertThat(claim().rows()).isEmpty();
    }

    @Test
    final void markFailed_waits_thenIsClaimedWithItsAttempts() {
        appendMany(2);
        OutboxClaim claim = claim();
        assertThat(store().markFailed(
                                claim.token(),
                                List.of(
                                        failure(claim.rows().get(1), false, Duration.ofMinutes(1)),
                                        failure(claim.rows().get(0), false, Duration.ofMinutes(10)))))
                .isEqualTo(2);

        assertThat(claim().rows()).isEmpty();
        passTime(Duration.ofMinutes(2));
        OutboxClaim again = claim();
        assertThat(ids(again.rows())).containsExactly(claim.rows().get(1).eventId());
        assertThat(again.rows().get(0).attempts()).isOne();

        store().markFailed(again.token(), List.of(failure(again.rows().get(0), false, Duration.ZERO)));
        assertThat(claim().rows())
                .hasSize(1)
                .allSatisfy(row -> assertThat(row.attempts()).isEqualTo(2));
    }

    @Test
    final void markFailed_dead_isNeverClaimedNorDeleted() {
        appendMany(1);
        OutboxClaim claim = claim();
        store().markFailed(claim.token(), List.of(failure(claim.rows().get(0), true, Duration.ZERO)));
        passTime(Duration.ofDays(1));

        assertThat(claim().rows()).isEmpty();
        assertThat(store().returnExpired(100)).isZero();
        assertThat(store().deletePublished(Duration.ofMillis(1), 100)).isZero();
    }

    @Test
    final void release_isDueAtOnceWithoutAnAttempt() {
        appendMany(3);
        OutboxClaim claim = claim();

        assertThat(store().release(claim.token(), rowIds(claim.rows()).subList(1, 3)))
                .isEqualTo(2);

        OutboxClaim again = claim();
        assertThat(ids(again.rows()))
                .containsExactlyElementsOf(ids(claim.rows()).subList(1, 3));
        assertThat(again.rows()).allSatisfy(row -> assertThat(row.attempts()).isZero());
        assertThat(store().markPublished(claim.token(), rowIds(claim.rows()), PublishedRows.DELETE))
                .isOne();
    }

    @Test
    final void returnExpired_returnsOnlyWhatHasNoOwnerAnyMore() {
        appendMany(2);
        claim();
        passTime(LEASE.plusSeconds(1));
        appendMany(3);
        store().claim("contract", LEASE, new OutboxQuery(0, 1, Set.of()));

        assertThat(store().returnExpired(100)).isOne();
        assertThat(store().returnExpired(100)).isZero();
        assertThat(claim().rows())
                .hasSize(4)
                .allSatisfy(row -> assertThat(row.attempts()).isZero());
    }

    @Test
    final void returnExpired_keepsToItsLimit() {
        appendMany(5);
        claim();
        passTime(LEASE.plusSeconds(1));

        assertThat(store().returnExpired(2)).isEqualTo(2);
        assertThat(store().returnExpired(100)).isEqualTo(3);
    }

    private static OutboxFailure failure(OutboxRow row, boolean dead, Duration retryAfter) {
        return new OutboxFailure(row.id(), dead, retryAfter, "refused \0 by the contract ".repeat(100));
    }
}
