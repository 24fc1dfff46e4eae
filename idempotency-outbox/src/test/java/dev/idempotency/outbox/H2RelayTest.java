package dev.idempotency.outbox;

class H2RelayTest extends RelayScenarios {
    @Override
    OutboxDatabase open() {
        return OutboxDatabase.h2();
    }
}
