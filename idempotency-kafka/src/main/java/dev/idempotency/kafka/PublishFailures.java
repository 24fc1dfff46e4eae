package dev.idempotency.kafka;

import dev.idempotency.spi.PublishOutcome;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** Decides who is to blame for what Kafka's producer says. */
final class PublishFailures {
    private PublishFailures() {}

    static PublishOutcome.Kind kindOf(Throwable failure) {
        if (failure instanceof RecordTooLargeException
                || failure instanceof RecordBatchTooLargeException
                || failure instanceof SerializationException
                || failure instanceof InvalidRecordException
                || failure instanceof IllegalArgumentException) {
            return PublishOutcome.Kind.RECORD;
        }
        if (failure instanceof UnknownTopicOrPartitionException
                || failure instanceof UnknownTopicIdException
                || failure instanceof InvalidTopicException
                || failure instanceof TopicAuthorizationException
                || failure instanceof PolicyViolationException
                // The time in a record is that of the send: to blame are this machine's clock or the topic's limits,
                // and the event must outlast both.
                || failure instanceof InvalidTimestampException
                // Too few replicas is a matter of one topic's partitions; if the whole cluster suffers, each topic
                // rests.
                || failure instanceof NotEnoughReplicasException
                || failure instanceof NotEnoughReplicasAfterAppendException
                // What the client says of the good records of a batch that was refused for a bad one.
                || (failure.getClass() == KafkaException.class && failure.getCause() == null)) {
            return PublishOutcome.Kind.TOPIC;
        }
        if (failure instanceof OutOfOrderSequenceException
                || failure instanceof ProducerFencedException
                || failure instanceof InvalidProducerEpochException
                || failure instanceof UnknownProducerIdException
                || failure instanceof AuthenticationException
                || failure instanceof ClusterAuthorizationException
                || failure instanceof UnsupportedVersionException
                || failure instanceof IllegalStateException) {
            return PublishOutcome.Kind.FATAL;
        }
        // A time-out on the topic's metadata has what the broker last said about the topic as its cause.
        Throwable cause = failure.getCause();
        return cause == null || cause == failure ? PublishOutcome.Kind.BROKER : kindOf(cause);
    }
}
