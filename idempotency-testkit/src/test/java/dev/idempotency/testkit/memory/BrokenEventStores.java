package dev.idempotency.testkit.memory;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Event stores that break one rule each, in ways that have been seen in the field; the contracts must find every one. */
final class BrokenEventStores {
    private BrokenEventStores() {}

    static final class MarksOnItsOwn extends InMemoryEventStore {
        MarksOnItsOwn(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
            Marks made = super.mark(transaction, consumer, ids);
            synchronized (database) {
                made.fresh().forEach(id -> marks.put(identity(consumer, id), database.now()));
            }
            return made;
        }
    }

    /** Looks first and writes later, without anything that two transactions would collide on. */
    static final class ChecksThenActs extends InMemoryEventStore {
        ChecksThenActs(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
            InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
            Set<EventId> fresh = new HashSet<>();
            synchronized (database) {
                joined.requireRunning();
                for (EventId id : ids) {
                    Object identity = identity(consumer, id);
                    if (!marks.containsKey(identity) && joined.isFirstCompletion(identity)) {
                        fresh.add(id);
                        joined.write(() -> marks.put(identity, database.now()));
                    }
                }
            }
            LockSupport.parkNanos(200_000);
            return new Marks(fresh, Long.toString(joined.id()));
        }
    }

    static final class ForgetsTheConsumer extends InMemoryEventStore {
        ForgetsTheConsumer(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return what;
        }
    }

    static final class FoldsTheConsumersCase extends InMemoryEventStore {
        FoldsTheConsumersCase(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return List.of(consumer.value().toLowerCase(Locale.ROOT), what);
        }
    }

    static final class TrimsTheConsumer extends InMemoryEventStore {
        TrimsTheConsumer(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return List.of(consumer.value().strip(), what);
        }
    }

    static final class FoldsTheIdsCase extends InMemoryEventStore {
        FoldsTheIdsCase(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return super.identity(
                    consumer, what instanceof EventId id ? id.value().toLowerCase(Locale.ROOT) : what);
        }
    }

    static final class CutsIds extends InMemoryEventStore {
        CutsIds(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return super.identity(
                    consumer,
                    what instanceof EventId id
                            ? id.value().substring(0, Math.min(id.value().length(), EventId.MAX_BYTES - 1))
                            : what);
        }
    }

    static final class ConfirmsAnyTransaction extends InMemoryEventStore {
        ConfirmsAnyTransaction(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void confirm(Transaction transaction, Marks made) {
            // Plain last statements pass in a transaction that is another one by now.
        }
    }

    static final class DeletesYoungMarks extends InMemoryEventStore {
        DeletesYoungMarks(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public int deleteMarks(Duration age, int limit) {
            synchronized (database) {
                int deleted = marks.size();
                marks.clear();
                return deleted;
            }
        }
    }

    static final class DeletesWithoutALimit extends InMemoryEventStore {
        DeletesWithoutALimit(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public int deleteMarks(Duration age, int limit) {
            return super.deleteMarks(age, 100_000);
        }
    }

    static final class GoesByTheEpochAlone extends InMemoryEventStore {
        GoesByTheEpochAlone(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isValid(OffsetAdvance advance, PartitionAssignment present) {
            return present.epoch() == advance.epoch();
        }
    }

    static final class GoesByTheOffsetAlone extends InMemoryEventStore {
        GoesByTheOffsetAlone(InMemoryDatabase database) {
            super(database);
        }

        @Override
        boolean isValid(OffsetAdvance advance, PartitionAssignment present) {
            return Objects.equals(present.nextOffset(), advance.from());
        }
    }

    static final class TakesOverUnderAnOpenTransaction extends InMemoryEventStore {
        TakesOverUnderAnOpenTransaction(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public List<PartitionAssignment> assign(
                ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
            synchronized (database) {
                List<PartitionAssignment> assignments = new ArrayList<>();
                for (EventPartition partition : partitions) {
                    PartitionAssignment before = offsets.get(identity(consumer, partition));
                    PartitionAssignment after = before == null
                            ? new PartitionAssignment(partition, 1, null)
                            : new PartitionAssignment(partition, before.epoch() + 1, before.nextOffset());
                    offsets.put(identity(consumer, partition), after);
                    assignments.add(after);
                }
                return assignments;
            }
        }
    }

    static final class RepeatsEpochs extends InMemoryEventStore {
        RepeatsEpochs(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public List<PartitionAssignment> assign(
                ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
            synchronized (database) {
                List<PartitionAssignment> assignments = new ArrayList<>();
                for (PartitionAssignment assigned : super.assign(consumer, partitions, owner)) {
                    PartitionAssignment same = new PartitionAssignment(assigned.partition(), 1, assigned.nextOffset());
                    offsets.put(identity(consumer, assigned.partition()), same);
                    assignments.add(same);
                }
                return assignments;
            }
        }
    }

    static final class SuspectsNobody extends InMemoryEventStore {
        SuspectsNobody(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public List<PartitionAssignment> assign(
                ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
            return super.assign(consumer, partitions, owner).stream()
                    .map(assigned -> new PartitionAssignment(
                            assigned.partition(), assigned.epoch(), assigned.nextOffset(), false))
                    .toList();
        }
    }

    static final class CountsEachStart extends InMemoryEventStore {
        CountsEachStart(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset) {
            synchronized (database) {
                started.computeIfPresent(
                        identity(consumer, assignment.partition()),
                        (partition, last) -> new Started(last.offset(), 0, last.starts()));
                return super.start(consumer, assignment, offset);
            }
        }
    }

    static final class CountsStartsOfZombies extends InMemoryEventStore {
        CountsStartsOfZombies(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset) {
            synchronized (database) {
                PartitionAssignment present =
                        offsets.getOrDefault(identity(consumer, assignment.partition()), assignment);
                return super.start(consumer, present, offset);
            }
        }
    }

    static final class NeverSettles extends InMemoryEventStore {
        NeverSettles(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void settle(ConsumerId consumer, PartitionAssignment assignment, long offset) {
            // That is what is wrong with it.
        }
    }

    static final class AdvancesOnItsOwn extends InMemoryEventStore {
        AdvancesOnItsOwn(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public Set<EventPartition> advance(
                Transaction transaction, Marks made, ConsumerId consumer, Collection<OffsetAdvance> advances) {
            synchronized (database) {
                Set<EventPartition> fenced = super.advance(transaction, made, consumer, advances);
                for (OffsetAdvance advance : advances) {
                    if (!fenced.contains(advance.partition())) {
                        offsets.put(
                                identity(consumer, advance.partition()),
                                new PartitionAssignment(advance.partition(), advance.epoch(), advance.to()));
                    }
                }
                return fenced;
            }
        }
    }

    static final class AdvancesInAnyTransaction extends InMemoryEventStore {
        AdvancesInAnyTransaction(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public Set<EventPartition> advance(
                Transaction transaction, Marks made, ConsumerId consumer, Collection<OffsetAdvance> advances) {
            InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
            return super.advance(transaction, new Marks(made.fresh(), Long.toString(joined.id())), consumer, advances);
        }
    }

    static final class KeepsThirtyTwoBits extends InMemoryEventStore {
        KeepsThirtyTwoBits(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public List<PartitionAssignment> assign(
                ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
            return super.assign(consumer, partitions, owner).stream()
                    .map(assigned -> assigned.nextOffset() == null
                            ? assigned
                            : new PartitionAssignment(assigned.partition(), assigned.epoch(), (long)
                                    assigned.nextOffset().intValue()))
                    .toList();
        }
    }

    static final class GoesByTheTopicsName extends InMemoryEventStore {
        GoesByTheTopicsName(InMemoryDatabase database) {
            super(database);
        }

        @Override
        Object identity(ConsumerId consumer, Object what) {
            return super.identity(
                    consumer,
                    what instanceof EventPartition partition ? List.of(partition.topic(), partition.number()) : what);
        }
    }

    static final class ParksOnItsOwn extends InMemoryEventStore {
        ParksOnItsOwn(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
            synchronized (database) {
                parked.put(place(consumer, event.partition(), event.offset()), event);
            }
        }
    }

    static final class ParksWithAMark extends InMemoryEventStore {
        ParksWithAMark(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
            super.park(transaction, consumer, event);
            mark(transaction, consumer, List.of(event.id()));
        }
    }

    static final class DropsHeaders extends InMemoryEventStore {
        DropsHeaders(InMemoryDatabase database) {
            super(database);
        }

        @Override
        @SuppressWarnings("NullAway") // on JDK 17 it does not see in a class file that an array may be null
        public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
            super.park(
                    transaction,
                    consumer,
                    new ParkedEvent(
                            event.id(),
                            event.partition(),
                            event.offset(),
                            event.key(),
                            event.value(),
                            List.of(),
                            event.timestamp(),
                            event.attempts(),
                            event.reason()));
        }
    }

    static final class ReplaysWithoutALock extends InMemoryEventStore {
        ReplaysWithoutALock(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public Optional<ParkedEvent> lockParked(
                TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
            return findParked(consumer, null, 1_000).stream()
                    .filter(event -> event.partition().equals(partition) && event.offset() == offset)
                    .findFirst();
        }
    }

    static final class FindsEverybodysParked extends InMemoryEventStore {
        FindsEverybodysParked(InMemoryDatabase database) {
            super(database);
        }

        @Override
        public List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit) {
            synchronized (database) {
                return parked.values().stream().limit(limit).toList();
            }
        }
    }

    static final class TurnsNoPage extends InMemoryEventStore {
        TurnsNoPage(InMemoryDatabase database) {
            super(database);
        }

        /** Goes on behind the offset alone, as if there were one partition. */
        @Override
        public List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit) {
            return super.findParked(consumer, null, 1_000).stream()
                    .filter(event -> after == null || event.offset() > after.offset())
                    .limit(limit)
                    .toList();
        }
    }

    static final class FindsTheLastOfAKey extends InMemoryEventStore {
        FindsTheLastOfAKey(InMemoryDatabase database) {
            super(database);
        }

        @Override
        List<ParkedEvent> parkedOf(ConsumerId consumer, EventPartition partition) {
            List<ParkedEvent> reversed = new ArrayList<>(super.parkedOf(consumer, partition));
            Collections.reverse(reversed);
            return reversed;
        }
    }
}
