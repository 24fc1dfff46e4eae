package dev.idempotency.kafka;

import dev.idempotency.spi.OutboxRow;
import dev.idempotency.spi.PublishCallback;
import dev.idempotency.spi.PublishOutcome;
import dev.idempotency.spi.PublishOutcome.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the events of one range in transactions, one after the other, on a thread of its own: what has gathered while one
 * commits is the next. An event is answered when its transaction has committed.
 *
 * <p>A failure ends it: what is queued behind is answered FATAL, and the range has to be taken over again. Only so does no
 * later event overtake the one that failed.
 */
final class SlotTransactions {
    private static final Logger log = LoggerFactory.getLogger(SlotTransactions.class);

    private static final int MOST_EVENTS = 2_000;
    private static final long LOOK_MILLIS = 500;
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final String name;
    private final OutboxRecords records;
    private final Producer<byte[], byte[]> producer;
    private final Duration longestQueued;
    private final LinkedBlockingQueue<Pending> queue = new LinkedBlockingQueue<>();
    private final Thread thread;

    /** Why it is over; nothing is sent any more. Guarded by the queue. */
    private @Nullable Exception ended;

    private record Pending(OutboxRow row, PublishCallback callback, long givenNanos) {
        void published() {
            callback.completed(row, new PublishOutcome.Published());
        }

        void failed(Kind kind, Exception cause) {
            callback.completed(row, new PublishOutcome.Failed(kind, cause));
        }
    }

    /**
     * Connects, and has the broker refuse whoever used the transactional id before.
     *
     * @throws KafkaException if the broker does not answer, or refuses
     */
    SlotTransactions(
            Map<String, Object> settings, String transactionalId, OutboxRecords records, Duration longestQueued) {
        this.name = transactionalId;
        this.records = records;
        this.longestQueued = longestQueued;
        Map<String, Object> own = new HashMap<>(settings);
        own.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
        own.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (option, client) -> client + "-" + transactionalId);
        this.producer = new KafkaProducer<>(own, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            producer.initTransactions();
        } catch (RuntimeException e) {
            producer.close(Duration.ZERO);
            throw e;
        }
        this.thread = new Thread(this::run, "outbox-kafka-" + transactionalId);
        thread.setDaemon(true);
        thread.start();
    }

    boolean hasEnded() {
        synchronized (queue) {
            return ended != null;
        }
    }

    void publish(OutboxRow row, PublishCallback callback) {
        Pending pending = new Pending(row, callback, System.nanoTime());
        Exception over;
        synchronized (queue) {
            over = ended;
            if (over == null) {
                queue.add(pending);
            }
        }
        if (over != null) {
            pending.failed(Kind.FATAL, over);
        }
    }

    /** Answers what is queued FATAL, gives the transaction in hand this long, and aborts it then. */
    void close(Duration longest) {
        end(new KafkaException("The range was given back"));
        if (!longest.isZero()) {
            join(longest);
        }
        producer.close(Duration.ZERO);
        join(LAST_WORDS);
    }

    private void join(Duration longest) {
        try {
            thread.join(longest.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void end(Exception cause) {
        List<Pending> rest = new ArrayList<>();
        synchronized (queue) {
            if (ended == null) {
                ended = cause;
            }
            queue.drainTo(rest);
        }
        rest.forEach(pending -> pending.failed(Kind.FATAL, cause));
    }

    private void run() {
        try {
            List<Pending> batch = new ArrayList<>();
            while (!hasEnded()) {
                Pending first = queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                if (first != null) {
                    batch.add(first);
                    queue.drainTo(batch, MOST_EVENTS - 1);
                    send(batch);
                    batch.clear();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            end(new KafkaException("The publisher's thread was interrupted", e));
        } catch (RuntimeException | Error e) {
            end(new KafkaException("The publisher's thread failed", e));
            log.warn("The outbox publisher's transactions {} ended: {}", name, e.toString());
        }
    }

    /** Sends the events in one transaction, or, if that fails, one by one to find out which of them it was. */
    private void send(List<Pending> batch) {
        if (System.nanoTime() - batch.get(0).givenNanos() > longestQueued.toNanos()) {
            endWith(batch, new TimeoutException("The events waited too long for the transactions before them"));
            return;
        }
        Exception failure = commit(batch);
        if (failure == null) {
            batch.forEach(Pending::published);
        } else if (batch.size() == 1 || PublishFailures.kindOf(failure) != Kind.RECORD) {
            endWith(batch, failure);
        } else {
            for (int i = 0; i < batch.size(); i++) {
                Exception own = commit(batch.subList(i, i + 1));
                if (own != null) {
                    endWith(batch.subList(i, batch.size()), own);
                    return;
                }
                batch.get(i).published();
            }
        }
    }

    /** The first has failed for this reason, and nothing behind it may arrive before it. */
    private void endWith(List<Pending> batch, Exception failure) {
        Kind kind = PublishFailures.kindOf(failure);
        log.debug("The outbox publisher's transaction {} failed as {}", name, kind, failure);
        // Ended first: an event that is handed over while the callbacks run must not be sent.
        synchronized (queue) {
            ended = failure;
        }
        producer.close(Duration.ZERO);
        batch.get(0).failed(kind, failure);
        batch.subList(1, batch.size()).forEach(pending -> pending.failed(Kind.FATAL, failure));
        end(failure);
    }

    /** Returns why the transaction failed, so that nothing of it arrived; null if it has committed. */
    private @Nullable Exception commit(List<Pending> batch) {
        AtomicReference<@Nullable Exception> refused = new AtomicReference<>();
        boolean begun = false;
        try {
            List<ProducerRecord<byte[], byte[]>> ready = new ArrayList<>(batch.size());
            for (Pending pending : batch) {
                ProducerRecord<byte[], byte[]> next = records.toRecord(pending.row());
                RecordTooLargeException tooLarge = records.tooLarge(pending.row(), next);
                if (tooLarge != null) {
                    return tooLarge;
                }
                OutboxRecords.checkPartition(producer, pending.row().event());
                ready.add(next);
            }
            producer.beginTransaction();
            begun = true;
            for (ProducerRecord<byte[], byte[]> next : ready) {
                send(next, refused);
            }
            producer.commitTransaction();
            return null;
        } catch (RuntimeException e) {
            if (begun) {
                abort();
            }
            Exception first = refused.get();
            return first == null ? e : first;
        }
    }

    /** The commit tells whether all of them arrived; the callback tells what was wrong with the first that did not. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private void send(ProducerRecord<byte[], byte[]> next, AtomicReference<@Nullable Exception> refused) {
        producer.send(next, (metadata, failure) -> {
            if (failure != null) {
                refused.compareAndSet(null, failure);
            }
        });
    }

    private void abort() {
        try {
            producer.abortTransaction();
        } catch (RuntimeException e) {
            // The next to take the range over aborts it.
            log.debug("The transaction {} was not aborted", name, e);
        }
    }
}
