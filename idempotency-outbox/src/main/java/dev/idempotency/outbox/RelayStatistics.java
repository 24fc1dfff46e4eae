package dev.idempotency.outbox;

/**
 * What a relay has done since its start, counted in this process.
 *
 * @param published events acknowledged by the broker
 * @param recordFailures attempts that failed for reasons of their event
 * @param topicFailures attempts that failed for reasons of their topic
 * @param brokerFailures attempts that failed for reasons of the broker
 * @param fatalFailures attempts that failed because the publisher's client was of no use any more
 * @param dead events given up
 * @param fenced marks that passed over a row because it was no longer held; normal after a lost lease
 * @param givenBack events taken and given back unsent
 * @param failedPasses passes that ended with an exception
 * @param inFlight events on their way now
 * @param bytesInFlight bytes on their way now
 */
public record RelayStatistics(
        long published,
        long recordFailures,
        long topicFailures,
        long brokerFailures,
        long fatalFailures,
        long dead,
        long fenced,
        long givenBack,
        long failedPasses,
        int inFlight,
        long bytesInFlight) {}
