package dev.idempotency.spi;

import java.util.Objects;

/** What became of one event that was handed to an {@link OutboxPublisher}. */
public sealed interface PublishOutcome {
    /** The broker has acknowledged the event. */
    record Published() implements PublishOutcome {}

    /**
     * The event was not acknowledged. It may have arrived all the same, unless the kind is {@link Kind#RECORD}.
     *
     * @param kind who is to blame
     * @param cause what the broker's client said
     */
    record Failed(Kind kind, Throwable cause) implements PublishOutcome {
        /** Checks that the parts are present. */
        public Failed {
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(cause, "cause");
        }
    }

    /** Who is to blame for a failure, and so what a relay does about it. */
    enum Kind {
        /**
         * This event: too large, refused by the broker's validation. It counts as an attempt, is tried again later, and
         * is given up in the end.
         */
        RECORD,
        /** Its topic: unknown, not allowed. Nothing counts; the topic rests for a while. */
        TOPIC,
        /** The broker: not reachable, too slow, too few replicas. Nothing counts; everything rests for a while. */
        BROKER,
        /** The publisher's own client, which is of no use any more. Nothing counts; the relay asks for a new one. */
        FATAL
    }
}
