package dev.idempotency.testkit.memory;

import dev.idempotency.ConsumerId;
import dev.idempotency.EventId;
import dev.idempotency.StoreConflictException;
import dev.idempotency.TransactionLostException;
import dev.idempotency.spi.EventPartition;
import dev.idempotency.spi.Marks;
import dev.idempotency.spi.OffsetAdvance;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.spi.ParkedEventStore;
import dev.idempotency.spi.PartitionAssignment;
import dev.idempotency.spi.StartedAttemptStore;
import dev.idempotency.transaction.Transaction;
import dev.idempotency.transaction.TransactionContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps marks, offsets and parked events in memory; tests give it to {@link dev.idempotency.event.EventProcessor} and
 * {@link dev.idempotency.event.ProcessedEvents}.
 *
 * <p>It passes the contracts of this kit. What it holds is gone with the virtual machine, so it protects nothing outside
 * a test. Where a real store would wait for another transaction, this one throws {@link StoreConflictException}. Safe for
 * use by many threads.
 */
public class InMemoryEventStore implements StartedAttemptStore, ParkedEventStore {
    private static final Comparator<ParkedEvent> IN_ORDER =
            Comparator.comparing(ParkedEvent::partition).thenComparing(ParkedEvent::offset);

    final InMemoryDatabase database;

    /** Guarded by the database's monitor, as everything here. */
    final Set<ConsumerId> consumers = new HashSet<>();

    final Map<Object, Instant> marks = new HashMap<>();
    final Map<Object, PartitionAssignment> offsets = new HashMap<>();
    final Map<Object, ParkedEvent> parked = new HashMap<>();

    /** How often a partition was assigned since it was last advanced. */
    final Map<Object, Integer> unadvanced = new HashMap<>();

    final Map<Object, Started> started = new HashMap<>();

    /** Not for extension by others: the kit's own tests break single rules in subclasses. */
    InMemoryEventStore(InMemoryDatabase database) {
        this.database = Objects.requireNonNull(database, "database");
    }

    /**
     * Returns an empty store.
     *
     * @param database whose transactions it joins
     * @return the store
     */
    public static InMemoryEventStore of(InMemoryDatabase database) {
        return new InMemoryEventStore(database);
    }

    @Override
    public void register(ConsumerId consumer) {
        synchronized (database) {
            consumers.add(consumer);
        }
    }

    @Override
    public Marks mark(TransactionContext transaction, ConsumerId consumer, Collection<EventId> ids) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            requireRegistered(consumer);
            Set<EventId> fresh = new HashSet<>();
            for (EventId id : ids) {
                Object identity = identity(consumer, id);
                lock(identity, joined);
                if (!marks.containsKey(identity) && joined.isFirstCompletion(identity)) {
                    fresh.add(id);
                    joined.write(() -> marks.put(identity, database.now()));
                }
            }
            return new Marks(fresh, transaction instanceof Transaction ? Long.toString(joined.id()) : "");
        }
    }

    @Override
    public void confirm(Transaction transaction, Marks made) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            if (!made.transactionProof().equals(Long.toString(joined.id()))) {
                throw new TransactionLostException("The marks were made in another transaction: roll back", null);
            }
        }
    }

    @Override
    public int deleteMarks(Duration age, int limit) {
        if (age.compareTo(Duration.ofMinutes(1)) < 0) {
            throw new IllegalArgumentException("The age must be at least 1 minute, but is " + age);
        }
        checkLimit(limit, 100_000);
        synchronized (database) {
            Instant youngest = database.now().minus(age);
            List<Object> old = marks.entrySet().stream()
                    .filter(mark -> mark.getValue().isBefore(youngest))
                    .map(Map.Entry::getKey)
                    .limit(limit)
                    .toList();
            old.forEach(marks::remove);
            return old.size();
        }
    }

    @Override
    public List<PartitionAssignment> assign(ConsumerId consumer, Collection<EventPartition> partitions, String owner) {
        synchronized (database) {
            requireRegistered(consumer);
            for (EventPartition partition : partitions) {
                if (database.isLocked(identity(consumer, partition))) {
                    throw conflict();
                }
            }
            List<PartitionAssignment> assignments = new ArrayList<>();
            for (EventPartition partition : partitions) {
                PartitionAssignment before = offsets.get(identity(consumer, partition));
                Long next = before == null ? null : before.nextOffset();
                Started last = started.get(identity(consumer, partition));
                boolean suspect = unadvanced.merge(identity(consumer, partition), 1, Integer::sum) > 1
                        || (last != null && last.starts() > 0 && (next == null || last.offset() >= next));
                PartitionAssignment after =
                        new PartitionAssignment(partition, before == null ? 1 : before.epoch() + 1, next, suspect);
                offsets.put(identity(consumer, partition), after);
                assignments.add(after);
            }
            return assignments;
        }
    }

    @Override
    public Set<EventPartition> advance(
            Transaction transaction, Marks made, ConsumerId consumer, Collection<OffsetAdvance> advances) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            confirm(transaction, made);
            Set<EventPartition> fenced = new HashSet<>();
            for (OffsetAdvance advance : advances) {
                Object identity = identity(consumer, advance.partition());
                lock(identity, joined);
                PartitionAssignment present = offsets.get(identity);
                if (present == null || !isValid(advance, present)) {
                    fenced.add(advance.partition());
                } else {
                    joined.write(() -> {
                        offsets.put(
                                identity, new PartitionAssignment(advance.partition(), advance.epoch(), advance.to()));
                        unadvanced.put(identity, 0);
                    });
                }
            }
            return fenced;
        }
    }

    boolean isValid(OffsetAdvance advance, PartitionAssignment present) {
        return present.epoch() == advance.epoch() && Objects.equals(present.nextOffset(), advance.from());
    }

    @Override
    public OptionalInt start(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        synchronized (database) {
            requireRegistered(consumer);
            Object identity = identity(consumer, assignment.partition());
            PartitionAssignment present = offsets.get(identity);
            if (present == null || present.epoch() != assignment.epoch()) {
                return OptionalInt.empty();
            }
            Started last = started.get(identity);
            int before = last == null || last.offset() != offset ? 0 : last.starts();
            boolean counted = before > 0 && last != null && last.epoch() == assignment.epoch();
            Started now = new Started(offset, assignment.epoch(), counted ? before : before + 1);
            started.put(identity, now);
            return OptionalInt.of(now.starts());
        }
    }

    @Override
    public void settle(ConsumerId consumer, PartitionAssignment assignment, long offset) {
        synchronized (database) {
            Object identity = identity(consumer, assignment.partition());
            PartitionAssignment present = offsets.get(identity);
            Started last = started.get(identity);
            if (present != null && present.epoch() == assignment.epoch() && last != null && last.offset() == offset) {
                started.put(identity, new Started(offset, last.epoch(), 0));
            }
        }
    }

    @Override
    public void park(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            requireRegistered(consumer);
            Object place = place(consumer, event.partition(), event.offset());
            lock(place, joined);
            joined.write(() -> parked.put(place, event));
        }
    }

    @Override
    public List<ParkedEvent> findParked(ConsumerId consumer, @Nullable ParkedEvent after, int limit) {
        checkLimit(limit, 1_000);
        synchronized (database) {
            requireRegistered(consumer);
            return parked.entrySet().stream()
                    .filter(entry -> entry.getKey() instanceof Place place
                            && place.consumer().equals(consumer))
                    .map(Map.Entry::getValue)
                    .filter(event -> after == null || IN_ORDER.compare(event, after) > 0)
                    .sorted(IN_ORDER)
                    .limit(limit)
                    .toList();
        }
    }

    @Override
    public List<byte[]> findParkedKeys(ConsumerId consumer, EventPartition partition, int limit) {
        checkLimit(limit, 1_000);
        synchronized (database) {
            requireRegistered(consumer);
            Set<ByteBuffer> keys = new HashSet<>();
            for (ParkedEvent event : parkedOf(consumer, partition)) {
                byte[] key = event.key();
                if (key != null && keys.size() < limit) {
                    keys.add(ByteBuffer.wrap(key));
                }
            }
            return keys.stream().map(ByteBuffer::array).toList();
        }
    }

    @Override
    public OptionalLong lockFirstParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, byte[] key) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            requireRegistered(consumer);
            for (ParkedEvent event : parkedOf(consumer, partition)) {
                if (Arrays.equals(event.key(), key)) {
                    lock(place(consumer, partition, event.offset()), joined);
                    return OptionalLong.of(event.offset());
                }
            }
            return OptionalLong.empty();
        }
    }

    /** In the order of their offsets. */
    List<ParkedEvent> parkedOf(ConsumerId consumer, EventPartition partition) {
        return parked.entrySet().stream()
                .filter(entry -> entry.getKey() instanceof Place place
                        && place.consumer().equals(consumer)
                        && place.partition().equals(partition))
                .map(Map.Entry::getValue)
                .sorted(IN_ORDER)
                .toList();
    }

    @Override
    public Optional<ParkedEvent> lockParked(
            TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            joined.requireRunning();
            requireRegistered(consumer);
            lock(place(consumer, partition, offset), joined);
            return Optional.ofNullable(parked.get(place(consumer, partition, offset)));
        }
    }

    @Override
    public boolean unpark(TransactionContext transaction, ConsumerId consumer, EventPartition partition, long offset) {
        InMemoryTransaction joined = transaction.unwrap(InMemoryTransaction.class);
        synchronized (database) {
            Object place = place(consumer, partition, offset);
            boolean present =
                    lockParked(transaction, consumer, partition, offset).isPresent();
            if (present) {
                joined.write(() -> parked.remove(place));
            }
            return present;
        }
    }

    Object identity(ConsumerId consumer, Object what) {
        return List.of(consumer, what);
    }

    static Object place(ConsumerId consumer, EventPartition partition, long offset) {
        return new Place(consumer, partition, offset);
    }

    private void requireRegistered(ConsumerId consumer) {
        if (!consumers.contains(consumer)) {
            throw new IllegalStateException("The consumer " + consumer.value() + " is not registered");
        }
    }

    private void lock(Object identity, InMemoryTransaction transaction) {
        if (!database.tryLock(identity, transaction)) {
            throw conflict();
        }
    }

    private static StoreConflictException conflict() {
        return new StoreConflictException("Another transaction works on the same: roll back and run it again", null);
    }

    private static void checkLimit(int limit, int most) {
        if (limit < 1 || limit > most) {
            throw new IllegalArgumentException("The limit must be between 1 and " + most + ", but is " + limit);
        }
    }

    /** Under how many assignments in a row an attempt began, the last in this epoch. */
    record Started(long offset, long epoch, int starts) {}

    private record Place(ConsumerId consumer, EventPartition partition, long offset) {}
}
