package dev.idempotency.outbox;

class PostgreSqlRelayIT extends RelayScenarios {
    @Override
    OutboxDatabase open() {
        return OutboxDatabase.postgreSql();
    }
}
