package dev.idempotency.examples.chain;

import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** What happened and when, in milliseconds since the demo began. Safe for use by many threads. */
final class Timeline {
    private final long originNanos = System.nanoTime();
    private final Queue<Attempt> attempts = new ConcurrentLinkedQueue<>();
    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final Queue<Run> runs = new ConcurrentLinkedQueue<>();
    private final Queue<Kill> kills = new ConcurrentLinkedQueue<>();
    private final Queue<Incident> incidents = new ConcurrentLinkedQueue<>();

    /** How one request ended, as its client saw it. */
    enum Outcome {
        /** 201, and the order was placed by this request. */
        PLACED,
        /** 201, and the answer is marked as that of an earlier request. */
        REPLAYED,
        /** 409: an earlier request with the key still runs. */
        REFUSED,
        /** Any other status: nothing was done, or nobody knows. */
        UNAVAILABLE,
        /** The client waited no longer. */
        TIMED_OUT,
        /** No connection, or it broke. */
        DISCONNECTED
    }

    /**
     * One request of a client.
     *
     * @param orderId the order in the answer, null without one
     */
    record Attempt(
            Intent intent,
            int client,
            boolean twin,
            int number,
            long from,
            long to,
            Outcome outcome,
            @Nullable UUID orderId) {}

    /** One call that reached the payment provider; not fresh if the provider knew the key, and so charged nothing. */
    record Call(UUID orderId, long at, boolean fresh, boolean answerDropped) {}

    /** One life of a service, from ready to its end. */
    record Run(ServiceName service, long from, long to) {}

    /**
     * One kill: when the signal was sent, when the process was gone, how long of that it had been made to stand still, and
     * with which status it ended.
     */
    record Kill(ServiceName service, Signal signal, long at, long gone, long stood, int status) {
        /** How long the process took to end. */
        long took() {
            return gone - at - stood;
        }
    }

    /** One fault, but for a kill: what, to whom, from when to when. */
    record Incident(Fault fault, String what, long from, long to) {}

    long now() {
        return (System.nanoTime() - originNanos) / 1_000_000;
    }

    void add(Attempt attempt) {
        attempts.add(attempt);
    }

    void add(Call call) {
        calls.add(call);
    }

    void add(Run run) {
        runs.add(run);
    }

    void add(Kill kill) {
        kills.add(kill);
    }

    void add(Incident incident) {
        incidents.add(incident);
    }

    List<Attempt> attempts() {
        return List.copyOf(attempts);
    }

    List<Call> calls() {
        return List.copyOf(calls);
    }

    List<Run> runs() {
        return List.copyOf(runs);
    }

    List<Kill> kills() {
        return List.copyOf(kills);
    }

    List<Incident> incidents() {
        return List.copyOf(incidents);
    }
}
