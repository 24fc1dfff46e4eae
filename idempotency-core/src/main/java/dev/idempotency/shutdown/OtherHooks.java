package dev.idempotency.shutdown;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Finds running shutdown hooks of others by the names of their threads. For diagnosis only: a hook with an ordinary
 * name is not found.
 */
final class OtherHooks {
    static final String OWN_HOOK = "idempotency-shutdown-hook";

    private static final Set<String> KNOWN =
            Set.of("SpringApplicationShutdownHook", "SpringContextShutdownHook", "JettyShutdownThread");

    private OtherHooks() {}

    static List<String> running() {
        List<String> names = new ArrayList<>();
        for (Thread thread : liveThreads()) {
            String name = thread.getName();
            if (KNOWN.contains(name) || (name.endsWith("shutdown-hook") && !name.equals(OWN_HOOK))) {
                names.add(name);
            }
        }
        return names;
    }

    /** Returns the live platform threads; enumerating groups takes no stack traces and needs no safepoint. */
    static List<Thread> liveThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + 16];
        int count = root.enumerate(threads);
        return Arrays.asList(threads).subList(0, count);
    }
}
