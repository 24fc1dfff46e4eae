package dev.idempotency.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** A record on its way to the handler, not yet decoded; with a rejection it never gets there. */
record Received(
        ConsumerRecord<byte[], byte[]> record, @Nullable RejectedRecordException rejection) {}
