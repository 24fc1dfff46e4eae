package dev.idempotency.outbox;

import dev.idempotency.spi.PublishOutcome;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what a listener throws away from the relay. */
final class CarefulListener implements RelayListener {
    /** Hears everything and does nothing. */
    static final RelayListener NONE = new RelayListener() {};

    private static final Logger log = LoggerFactory.getLogger(CarefulListener.class);

    private final RelayListener listener;

    private CarefulListener(RelayListener listener) {
        this.listener = listener;
    }

    static RelayListener of(RelayListener listener) {
        return new CarefulListener(listener);
    }

    @Override
    public void read(int rows, Duration took) {
        tell(() -> listener.read(rows, took));
    }

    @Override
    public void answered(String topic, PublishOutcome outcome, Duration took) {
        tell(() -> listener.answered(topic, outcome, took));
    }

    @Override
    public void marked(int rows, int fenced, Duration took) {
        tell(() -> listener.marked(rows, fenced, took));
    }

    @Override
    public void dead(String topic) {
        tell(() -> listener.dead(topic));
    }

    @Override
    public void leases(int held, int lost) {
        tell(() -> listener.leases(held, lost));
    }

    private static void tell(Runnable message) {
        try {
            message.run();
        } catch (RuntimeException | Error e) {
            // Also an Error, such as a class that is missing: an answer that is not written down would stay on its way.
            log.warn("A listener of a relay failed, which changes nothing for the relay: {}", e.toString());
            log.debug("The exception", e);
        }
    }
}
