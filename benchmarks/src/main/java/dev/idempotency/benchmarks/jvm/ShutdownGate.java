package dev.idempotency.benchmarks.jvm;

import dev.idempotency.shutdown.GracefulShutdown;
import dev.idempotency.shutdown.Permit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Enters and leaves the gate that every request passes. */
@State(Scope.Benchmark)
public class ShutdownGate {
    private final AtomicLong counter = new AtomicLong();
    private final GracefulShutdown shutdown = GracefulShutdown.ofDefaults();

    /**
     * Counts what is in flight, and could not say what it is.
     *
     * @return how much is in flight
     */
    @Benchmark
    public long byHand() {
        counter.incrementAndGet();
        return counter.decrementAndGet();
    }

    /**
     * Enters and leaves.
     *
     * @return the permit, closed
     */
    @Benchmark
    public Permit gate() {
        Permit permit = shutdown.inFlight().tryEnter("POST /orders").orElseThrow();
        permit.close();
        return permit;
    }
}
