package dev.idempotency.testkit.memory;

import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.OutboxFailure;
import dev.idempotency.spi.OutboxRow;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A row of an {@link InMemoryOutboxStore}, guarded by its database's monitor. */
final class InMemoryOutboxRow {
    final long sequence;
    final OutboxEvent event;
    Status status = Status.PENDING;
    private final Instant createdAt;
    private Instant due;
    private int attempts;
    private long token;
    private Instant lockedUntil = Instant.MIN;
    private @Nullable Instant doneAt;

    enum Status {
        PENDING,
        PUBLISHING,
        PUBLISHED,
        DEAD
    }

    InMemoryOutboxRow(long sequence, OutboxEvent event, Instant now) {
        this.sequence = sequence;
        this.event = withoutDelay(event);
        this.createdAt = now;
        this.due = now.plus(event.delay());
    }

    private static OutboxEvent withoutDelay(OutboxEvent event) {
        OutboxEvent.Builder copy =
                OutboxEvent.to(event.topic()).eventId(event.eventId().orElseThrow());
        event.key().ifPresent(copy::key);
        event.payload().ifPresent(copy::payload);
        event.partition().ifPresent(copy::partition);
        event.headers().forEach(copy::header);
        event.orderingKey().ifPresent(copy::orderingKey);
        event.type().ifPresent(copy::type);
        event.tenant().ifPresent(copy::tenant);
        return copy.build();
    }

    boolean isFor(OutboxEvent other) {
        return event.topic().equals(other.topic())
                && Arrays.equals(event.key().orElse(null), other.key().orElse(null))
                && Arrays.equals(event.payload().orElse(null), other.payload().orElse(null));
    }

    boolean isLive() {
        return doneAt == null;
    }

    /** Tells whether it is due and in nobody's claim. */
    boolean isFree(Instant now) {
        return !due.isAfter(now) && (status == Status.PENDING || isStuck(now));
    }

    boolean isStuck(Instant now) {
        return status == Status.PUBLISHING && lockedUntil.isBefore(now);
    }

    boolean isClaimedUnder(long claimToken) {
        return status == Status.PUBLISHING && token == claimToken;
    }

    boolean isPublishedBefore(Instant instant) {
        return status == Status.PUBLISHED && doneAt != null && doneAt.isBefore(instant);
    }

    void claim(long claimToken, Instant until) {
        status = Status.PUBLISHING;
        token = claimToken;
        lockedUntil = until;
    }

    void release() {
        status = Status.PENDING;
    }

    void publish(Instant now) {
        status = Status.PUBLISHED;
        doneAt = now;
    }

    void fail(OutboxFailure failure, Instant now) {
        attempts++;
        due = now.plus(failure.retryAfter());
        status = failure.dead() ? Status.DEAD : Status.PENDING;
        doneAt = failure.dead() ? now : null;
    }

    OutboxRow handOut(Instant now) {
        Duration wait = Duration.between(now, due);
        return new OutboxRow(
                sequence, event, event.bucket(), attempts, wait.isNegative() ? Duration.ZERO : wait, createdAt);
    }
}
