package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rule 8: one owner in the whole JVM, and a second one learns at start who the first is. */
@Timeout(30)
class OwnershipTest {
    private final GracefulShutdown first = GracefulShutdown.ofDefaults();
    private final GracefulShutdown second = GracefulShutdown.ofDefaults();

    @AfterEach
    void nobodyOwnsTheJvmAfterATest() {
        assertThat(System.getProperties().remove(JvmClaim.PROPERTY)).isNull();
    }

    @Test
    void rule8_secondClaim_isRefusedWithTheFirstOwnersName() {
        Ownership ownership = first.ownJvmShutdown("orders");
        try {
            ShutdownOwnershipException refused = catchThrowableOfType(
                    ShutdownOwnershipException.class, () -> second.ownJvmShutdown("billing service"));

            assertThat(refused.currentOwner()).isEqualTo("orders");
            assertThat(refused.refusedOwner()).isEqualTo("billing service");
            assertThat(refused).hasMessageContainingAll("'orders'", "'billing service'");
            assertThatThrownBy(() -> first.ownJvmShutdown("orders")).isInstanceOf(ShutdownOwnershipException.class);
        } finally {
            ownership.close();
        }
    }

    @Test
    void rule8_secondClaimFromAnotherClassLoader_isRefused() throws Exception {
        Ownership ownership = first.ownJvmShutdown("orders");
        try (URLClassLoader isolated = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
            Class<?> type = isolated.loadClass(GracefulShutdown.class.getName());
            assertThat(type).isNotSameAs(GracefulShutdown.class);
            Object other = type.getMethod("ofDefaults").invoke(null);

            assertThatThrownBy(
                            () -> type.getMethod("ownJvmShutdown", String.class).invoke(other, "billing"))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .hasMessageContaining("'orders'");
        } finally {
            ownership.close();
        }
    }

    @Test
    void rule8_twoClaimAtOnce_exactlyOneWins() throws Exception {
        int rounds = 20_000;
        AtomicInteger arrived = new AtomicInteger();
        AtomicInteger won = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> ended = new ArrayList<>();
            for (String owner : List.of("one", "other")) {
                ended.add(threads.submit(() -> {
                    for (int round = 0; round < rounds; round++) {
                        meet(arrived, 4 * round + 2);
                        Optional<JvmClaim> claim = claim(owner);
                        claim.ifPresent(mine -> won.incrementAndGet());
                        meet(arrived, 4 * round + 4);
                        claim.ifPresent(JvmClaim::release);
                    }
                }));
            }
            for (Future<?> thread : ended) {
                thread.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(won).hasValue(rounds);
    }

    /** A barrier that both leave at the same moment: one with a lock lets them out one after the other. */
    private static void meet(AtomicInteger arrived, int expected) {
        arrived.incrementAndGet();
        while (arrived.get() < expected) {
            Thread.onSpinWait();
        }
    }

    private static Optional<JvmClaim> claim(String owner) {
        try {
            return Optional.of(JvmClaim.sole(owner));
        } catch (ShutdownOwnershipException refused) {
            return Optional.empty();
        }
    }

    @Test
    void rule8_closed_anotherCanClaimAndClosingAgainDoesNotTakeItAway() {
        Ownership ownership = first.ownJvmShutdown("orders");
        ownership.close();
        Ownership next = second.ownJvmShutdown("orders");
        try {
            ownership.close();

            assertThatThrownBy(() -> first.ownJvmShutdown("late")).isInstanceOf(ShutdownOwnershipException.class);
        } finally {
            next.close();
        }
    }

    @Test
    void rule8_frameworkReserves_hookIsRefusedUntilEveryContextHasGivenUp() {
        Ownership parent = first.reserveJvmShutdown("spring boot");
        Ownership child = second.reserveJvmShutdown("spring boot");

        assertThatThrownBy(() -> first.ownJvmShutdown("main")).hasMessageContaining("'spring boot'");
        assertThatThrownBy(() -> first.reserveJvmShutdown("quarkus")).hasMessageContaining("'spring boot'");
        child.close();
        child.close();
        assertThatThrownBy(() -> first.ownJvmShutdown("main")).hasMessageContaining("'spring boot'");
        parent.close();
        first.ownJvmShutdown("main").close();
    }

    @Test
    void rule8_hookIsInstalled_frameworkIsRefused() {
        Ownership ownership = first.ownJvmShutdown("main");
        try {
            assertThatThrownBy(() -> second.reserveJvmShutdown("main"))
                    .isInstanceOf(ShutdownOwnershipException.class)
                    .hasMessageContaining("'main'");
        } finally {
            ownership.close();
        }
    }

    @Test
    void ownJvmShutdown_blankName_isRefused() {
        assertThatThrownBy(() -> first.ownJvmShutdown(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> first.reserveJvmShutdown("")).isInstanceOf(IllegalArgumentException.class);
    }

    private static URL[] classPath() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (Path path : pathsOf(System.getProperty("java.class.path", ""))) {
            urls.add(path.toUri().toURL());
        }
        return urls.toArray(URL[]::new);
    }

    private static List<Path> pathsOf(String classPath) {
        return Arrays.stream(classPath.split(File.pathSeparator, -1))
                .map(Path::of)
                .toList();
    }
}
