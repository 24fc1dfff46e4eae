package dev.idempotency.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.Idempotency;
import dev.idempotency.operation.ResultCodec;
import dev.idempotency.operation.ResultCodecs;
import dev.idempotency.operation.TransactionalContext;
import dev.idempotency.testkit.memory.InMemoryDatabase;
import dev.idempotency.testkit.memory.InMemoryIdempotencyStore;
import dev.idempotency.testkit.memory.InMemoryTransaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A typed operation whose result is kept as JSON, without a servlet. */
final class ChargesTest {
    private final List<Receipt> ledger = new ArrayList<>();

    record Receipt(String order, long cents) {}

    private Receipt charge(TransactionalContext tx, String order, long cents) {
        Receipt receipt = new Receipt(order, cents);
        tx.unwrap(InMemoryTransaction.class).write(() -> ledger.add(receipt));
        return receipt;
    }

    @Test
    void charge_repeated_isChargedOnce() {
        InMemoryDatabase runner = InMemoryDatabase.create();
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(runner);
        String order = "order-7";
        long cents = 1_999;
        byte[] content = (order + " " + cents).getBytes(StandardCharsets.UTF_8);

        ObjectMapper json = new ObjectMapper();
        ResultCodec<Receipt> receipts =
                ResultCodec.of("receipt-1", json::writeValueAsBytes, bytes -> json.readValue(bytes, Receipt.class));
        Idempotency idempotency = Idempotency.builder()
                .transactional(store, runner)
                .codecs(ResultCodecs.ofDefaults().with(Receipt.class, receipts))
                .build();

        Receipt receipt = idempotency
                .operation("charge")
                .key(order)
                .fingerprint(content)
                .execute(Receipt.class, tx -> charge(tx, order, cents));

        Receipt repeat = idempotency
                .operation("charge")
                .key(order)
                .fingerprint(content)
                .execute(Receipt.class, tx -> charge(tx, order, cents));
        assertThat(repeat).isEqualTo(receipt);
        assertThat(ledger).containsExactly(receipt);
    }
}
