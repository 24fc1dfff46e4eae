package dev.idempotency.verification.worlds;

import org.jspecify.annotations.Nullable;

/** A single rule taken away, in one place of the simulation; the world that is named must find it. */
enum SeededFault {
    NONE(null, "", "nothing is taken away"),

    EFFECT_IN_OTHER_TRANSACTION(
            Rule.T1, "operation on PostgreSQL", "the work writes on a connection of its own, which commits at once"),
    MARK_IN_OTHER_TRANSACTION(
            Rule.T1, "events by id", "events are marked in a transaction of their own, before the effect's"),
    LAST_STATEMENT_UNCHECKED(
            Rule.T2,
            "operation on PostgreSQL, swallowed error",
            "neither errors nor the row count of the last statement are looked at"),
    TRANSACTION_UNPROVEN(
            Rule.T2,
            "operation on PostgreSQL, ROLLBACK as text",
            "the last statement does not ask whether its transaction is still the claim's"),
    MARKS_UNCONFIRMED(
            Rule.T2, "events by id, swallowed error", "the transaction of the marks is not confirmed at its end"),
    ANSWER_BEFORE_COMMIT(Rule.T3, "operation on PostgreSQL", "the client is answered when the work is done"),
    OFFSET_BEFORE_COMMIT(Rule.T3, "events by id", "the offset is committed to Kafka before the database commits"),
    PUBLISHED_BEFORE_SENT(
            Rule.T3, "outbox by claims", "a row is marked as published before the broker has acknowledged"),
    LOOK_BEFORE_LOCK(Rule.T4, "operation on PostgreSQL", "the claim looks the record up before it locks the key"),
    UNREADABLE_RUNS_AGAIN(
            Rule.T4,
            "operation on PostgreSQL, answer not kept",
            "a record whose result cannot be given again counts as none"),
    COMPLETION_UNFENCED(
            Rule.T5, "leased operation, abandoned runs again", "a completion does not ask for the token of its claim"),
    ADVANCE_UNFENCED(
            Rule.T5, "events by offset", "an offset is moved whoever owns the partition and wherever it stands"),
    RELAY_CLOCK(Rule.T8, "outbox by claims", "claims are judged by the clock of each relay, and one of them is fast"),
    PUBLISHED_UNFENCED(Rule.T5, "outbox by claims", "rows are marked and given back whoever has claimed them"),
    UNKNOWN_IS_FAILED(
            Rule.T6, "operation on PostgreSQL", "a commit without an answer is taken for one that did not happen"),
    UNKNOWN_CLAIM_IS_MINE(
            Rule.T6,
            "leased operation, abandoned is reported",
            "a claim whose commit is unknown is used without looking it up"),
    UNKNOWN_IS_REPEATED(
            Rule.T6,
            "events by offset",
            "after a commit without an answer the batch is repeated under the epoch alone"),
    RELEASE_AFTER_EFFECT(
            Rule.T7, "leased operation, abandoned is reported", "a completion that failed gives the claim back"),
    INSTANCE_CLOCK(
            Rule.T8,
            "leased operation, abandoned runs again",
            "leases are judged by the clock of each instance, and one of them is fast"),
    IDLE_UNBOUNDED(Rule.T9, "operation on PostgreSQL, stopped", "the server lets a transaction stay open for ever"),
    DEATH_UNNOTICED(Rule.T9, "operation on H2", "the server does not notice that a client is gone"),
    LOCK_WAIT_UNBOUNDED(Rule.T9, "events by id, stopped", "a wait for a lock never ends by itself"),
    DUPLICATE_IS_ACQUIRED(Rule.T10, "operation on H2", "a claim that finds the place taken counts as acquired"),
    DUPLICATE_IS_THROWN(Rule.T10, "operation on H2", "a claim that finds the place taken throws"),
    FOLDED_KEYS(Rule.T11, "keys in two cases", "keys are compared without regard to case"),
    JOINED_KEYS(Rule.T11, "keys cut in two places", "scope and key are joined by a delimiter"),
    UNSORTED_MARKS(Rule.T12, "events in two orders", "marks are written in the order of delivery"),
    CONFLICT_COUNTS(
            Rule.T12, "operation on PostgreSQL, conflicts", "a lost conflict is taken for a failure of the work"),

    NUMBER_BEFORE_ID(
            null,
            "outbox by leases, while it is written",
            "an append draws its sequence number before it has a transaction id"),
    MARK_BY_SNAPSHOT(
            null, "outbox by leases, while it is written", "the low-water mark trusts the upper bound of a snapshot"),
    CURSOR_IS_TRUTH(
            null, "outbox by leases, while it is written", "a relay never looks at what lies behind its cursor"),
    SENT_PAST_LEASE(
            null, "outbox by leases, two relays", "a relay sends without asking how long its lease still lasts"),
    LATER_OVERTAKES(
            null, "outbox by leases, two relays", "an event is sent although an earlier one of its key has failed"),
    BATCH_CHANGES_ITS_MIND(
            null,
            "outbox by leases, paused and resumed",
            "a topic that rested for one row of a batch is asked again for the next");

    private final @Nullable Rule rule;
    private final String world;
    private final String text;

    SeededFault(@Nullable Rule rule, String world, String text) {
        this.rule = rule;
        this.world = world;
        this.text = text;
    }

    /** The rule taken away; null for one of the outbox's own rules. */
    @Nullable
    Rule rule() {
        return rule;
    }

    /** The name of the world that finds it. */
    String world() {
        return world;
    }

    String text() {
        return text;
    }
}
