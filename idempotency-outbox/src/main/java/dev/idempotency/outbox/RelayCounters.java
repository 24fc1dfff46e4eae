package dev.idempotency.outbox;

import java.util.concurrent.atomic.LongAdder;

/** The counters behind {@link RelayStatistics}. Thread-safe. */
final class RelayCounters {
    final LongAdder published = new LongAdder();
    final LongAdder recordFailures = new LongAdder();
    final LongAdder topicFailures = new LongAdder();
    final LongAdder brokerFailures = new LongAdder();
    final LongAdder fatalFailures = new LongAdder();
    final LongAdder dead = new LongAdder();
    final LongAdder fenced = new LongAdder();
    final LongAdder givenBack = new LongAdder();
    final LongAdder failedPasses = new LongAdder();

    RelayStatistics snapshot(EventsInFlight inFlight) {
        return new RelayStatistics(
                published.sum(),
                recordFailures.sum(),
                topicFailures.sum(),
                brokerFailures.sum(),
                fatalFailures.sum(),
                dead.sum(),
                fenced.sum(),
                givenBack.sum(),
                failedPasses.sum(),
                inFlight.count(),
                inFlight.bytes());
    }
}
