package dev.idempotency.servlet;

import dev.idempotency.operation.OperationListener;
import dev.idempotency.operation.OperationReport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Counts and times operations and refused requests in Micrometer; applications give one to {@link
 * dev.idempotency.Idempotency.Builder#listener} and to {@link IdempotencyFilterBuilder#refusals}.
 *
 * <p>{@code idempotency.operations} is a timer with the tags {@code operation}, {@code protection} and {@code outcome} (the
 * name of an {@link dev.idempotency.operation.OutcomeKind} in lower case); {@code idempotency.refusals} a counter with the tag
 * {@code code}, see {@link ProblemCode#text()}. There is never a key, a caller or a tenant in a tag, and at most {@value
 * #MOST_OPERATIONS} operations: those that come later are counted as {@code other}.
 *
 * <p>It needs {@code io.micrometer:micrometer-core}. Safe for use by many threads.
 */
public final class IdempotencyMeters implements OperationListener, RefusalListener {
    private static final int MOST_OPERATIONS = 200;
    private static final String OTHER = "other";

    private final MeterRegistry registry;
    private final UnaryOperator<String> operationTag;
    private final Map<String, String> operations = new ConcurrentHashMap<>();

    private IdempotencyMeters(MeterRegistry registry, UnaryOperator<String> operationTag) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.operationTag = Objects.requireNonNull(operationTag, "operationTag");
    }

    /**
     * Returns meters that tag an operation by its name, and one that has none but method and path by its method: paths
     * hold ids, and strangers choose them.
     *
     * @param registry where the meters are
     * @return the listener
     */
    public static IdempotencyMeters of(MeterRegistry registry) {
        return of(registry, IdempotencyMeters::withoutPath);
    }

    /**
     * Returns meters with tags of the application's own.
     *
     * @param registry where the meters are
     * @param operationTag gives the tag of an operation's name; it has to make few of many, a template of a path for instance
     * @return the listener
     */
    public static IdempotencyMeters of(MeterRegistry registry, UnaryOperator<String> operationTag) {
        return new IdempotencyMeters(registry, operationTag);
    }

    private static String withoutPath(String operation) {
        int path = operation.indexOf(" /");
        return path < 0 ? operation : operation.substring(0, path);
    }

    @Override
    public void onOutcome(OperationReport report) {
        Timer.builder("idempotency.operations")
                .description("Operations by what became of them, waiting for a running duplicate included")
                .tag("operation", bounded(operationTag.apply(report.operation())))
                .tag("protection", lowerCase(report.protection()))
                .tag("outcome", lowerCase(report.kind()))
                .register(registry)
                .record(report.elapsed());
    }

    @Override
    public void onRefusal(ProblemCode code) {
        Counter.builder("idempotency.refusals")
                .description("Requests that were refused before their key was looked up")
                .tag("code", code.text())
                .register(registry)
                .increment();
    }

    /** Two that come at the same time may pass the bound by one; what matters is that it does not grow. */
    private String bounded(String operation) {
        if (operations.size() < MOST_OPERATIONS) {
            operations.putIfAbsent(operation, operation);
        }
        return operations.getOrDefault(operation, OTHER);
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
