package dev.idempotency.outbox;

import org.junit.jupiter.api.Nested;

/** All that a relay does, on PostgreSQL. */
class PostgreSqlRelayIT {
    @Nested
    class Delivery extends DeliveryScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class Failure extends FailureScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class Stop extends StopScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class Lease extends LeaseScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class ClaimAndLock extends ClaimAndLockScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class Administration extends AdministrationScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }

    @Nested
    class Server extends PostgreSqlScenarios {
        @Override
        OutboxDatabase open() {
            return OutboxDatabase.postgreSql();
        }
    }
}
