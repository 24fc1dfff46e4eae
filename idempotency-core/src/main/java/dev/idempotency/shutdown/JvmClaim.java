package dev.idempotency.shutdown;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The JVM-wide claim on the process's end. It lives in the system properties because they are the one place that is
 * shared by class loaders and has atomic updates.
 */
final class JvmClaim {
    static final String PROPERTY = "dev.idempotency.shutdown.owner";

    private static final String SOLE = "sole ";
    private static final String SHARED = "shared ";

    private final String owner;
    private final boolean shared;

    private JvmClaim(String owner, boolean shared) {
        this.owner = owner;
        this.shared = shared;
    }

    /** Claims for an instance that installs the hook: nobody else may have a claim. */
    static JvmClaim sole(String owner) {
        Object current = System.getProperties().putIfAbsent(PROPERTY, SOLE + owner);
        if (current != null) {
            throw new ShutdownOwnershipException(ownerOf(current), owner);
        }
        return new JvmClaim(owner, false);
    }

    /** Claims for a framework, which may run several contexts: others with the same name may share the claim. */
    static JvmClaim shared(String owner) {
        AtomicReference<@Nullable Object> refusedBy = new AtomicReference<>();
        System.getProperties().compute(PROPERTY, (property, current) -> {
            if (current == null) {
                return SHARED + "1 " + owner;
            }
            if (isShared(current) && ownerOf(current).equals(owner)) {
                return SHARED + (holders(current) + 1) + " " + owner;
            }
            refusedBy.set(current);
            return current;
        });
        Object current = refusedBy.get();
        if (current != null) {
            throw new ShutdownOwnershipException(ownerOf(current), owner);
        }
        return new JvmClaim(owner, true);
    }

    /** Gives the claim back; to be called once. */
    void release() {
        if (!shared) {
            System.getProperties().remove(PROPERTY, SOLE + owner);
            return;
        }
        System.getProperties()
                .computeIfPresent(
                        PROPERTY,
                        (property, current) ->
                                holders(current) == 1 ? null : SHARED + (holders(current) - 1) + " " + owner);
    }

    private static boolean isShared(Object claim) {
        return claim.toString().startsWith(SHARED);
    }

    private static int holders(Object claim) {
        String afterKind = claim.toString().substring(SHARED.length());
        return Integer.parseInt(afterKind.substring(0, afterKind.indexOf(' ')));
    }

    private static String ownerOf(Object claim) {
        String text = claim.toString();
        String afterKind = text.substring(text.indexOf(' ') + 1);
        return isShared(claim) ? afterKind.substring(afterKind.indexOf(' ') + 1) : afterKind;
    }
}
