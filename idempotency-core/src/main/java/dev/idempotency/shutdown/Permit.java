package dev.idempotency.shutdown;

/**
 * The right to be waited for; whoever got it from {@link InFlight#tryEnter} closes it when the work has ended,
 * including its commit.
 *
 * <p>A permit that is never closed keeps the drain waiting until its cut-off and is then reported by its label, age and
 * thread. Thread-safe: it may be closed on another thread than the one that entered.
 */
public final class Permit implements AutoCloseable {
    private final InFlight gate;
    private final String label;
    private final String threadName;
    private final long enteredNanos;

    Permit(InFlight gate, String label, String threadName, long enteredNanos) {
        this.gate = gate;
        this.label = label;
        this.threadName = threadName;
        this.enteredNanos = enteredNanos;
    }

    /**
     * Enters for a part of this work that outlives the call, such as an asynchronous continuation. It is admitted even
     * during a drain, because the work it belongs to has been admitted.
     *
     * @param label as for {@link InFlight#tryEnter}
     * @return a permit of its own, to be closed separately from this one
     * @throws IllegalStateException if this permit has been closed; nothing has been entered
     */
    public Permit fork(String label) {
        return gate.fork(this, label);
    }

    /** Ends the work. Only the first call has an effect. */
    @Override
    public void close() {
        gate.leave(this);
    }

    String label() {
        return label;
    }

    String threadName() {
        return threadName;
    }

    long enteredNanos() {
        return enteredNanos;
    }

    @Override
    public String toString() {
        return "Permit[" + label + "]";
    }
}
