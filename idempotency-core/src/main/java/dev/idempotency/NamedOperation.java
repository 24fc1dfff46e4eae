package dev.idempotency;

import dev.idempotency.operation.ResultCodecs;
import dev.idempotency.operation.TransactionalContext;
import java.util.Objects;

/**
 * An operation whose key is still missing; {@link Idempotency#operation} gives it. Immutable.
 *
 * <p>Unless told otherwise its keys are shared by all callers, which is right for keys that the application itself makes.
 */
public final class NamedOperation {
    private final Idempotency idempotency;
    private final ResultCodecs codecs;
    private final Scope scope;

    NamedOperation(Idempotency idempotency, ResultCodecs codecs, Scope scope) {
        this.idempotency = idempotency;
        this.codecs = codecs;
        this.scope = scope;
    }

    /**
     * Separates the keys of tenants.
     *
     * @param name the tenant's stable name
     * @return the operation
     */
    public NamedOperation tenant(String name) {
        return new NamedOperation(idempotency, codecs, scope.withTenant(name));
    }

    /**
     * Separates the keys of callers: needed wherever callers choose their keys themselves.
     *
     * @param caller whose key it is
     * @return the operation
     */
    public NamedOperation caller(Caller caller) {
        return new NamedOperation(idempotency, codecs, new Scope(scope.tenant(), caller, scope.operation()));
    }

    /**
     * Names the one call that must have its effect once.
     *
     * @param key the same in every repeat
     * @return the call, under {@link Protection#TRANSACTIONAL}
     */
    public KeyedOperation<TransactionalContext> key(IdempotencyKey key) {
        Operation operation = Operation.of(
                        new RecordId(scope, Objects.requireNonNull(key, "key")),
                        Fingerprint.none(),
                        Protection.TRANSACTIONAL)
                .asRepeatable();
        return new KeyedOperation<>(idempotency, codecs, operation, TransactionalContext.class);
    }

    /**
     * As {@link #key(IdempotencyKey)}.
     *
     * @param key the key's value
     * @return the call, under {@link Protection#TRANSACTIONAL}
     * @throws IllegalArgumentException if the value is no key
     */
    public KeyedOperation<TransactionalContext> key(String key) {
        return key(IdempotencyKey.of(key));
    }
}
