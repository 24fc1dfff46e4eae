package dev.idempotency.outbox;

import org.junit.jupiter.api.Nested;

/** All that a relay does, on H2. */
class H2RelayTest {
    @Nested
    class Delivery extends DeliveryScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }

    @Nested
    class Failure extends FailureScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }

    @Nested
    class Stop extends StopScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }

    @Nested
    class Lease extends LeaseScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }

    @Nested
    class ClaimAndLock extends ClaimAndLockScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }

    @Nested
    class Administration extends AdministrationScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.h2();
        }
    }
}
