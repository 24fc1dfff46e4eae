package dev.idempotency.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildJvmIT {
    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void awaitLine_searchesBehindTheLastOne() {
        try (ChildJvm child = ChildJvm.of(Echo.class).arguments("a", 7).start()) {
            assertThat(child.awaitLineWith("argument ", SOON)).isEqualTo("a");
            assertThat(child.awaitLineWith("argument ", SOON)).isEqualTo("7");
            child.writeLine("hello");
            assertThat(child.awaitLineWith("echo ", SOON)).isEqualTo("hello");
            assertThat(child.lines()).startsWith("argument a", "argument 7");
        }
    }

    @Test
    void awaitLine_endedWithoutIt_failsAndShowsTheOutput() {
        try (ChildJvm child = ChildJvm.of(Echo.class).arguments("a").start()) {
            child.writeLine("end 3");
            assertThatThrownBy(() -> child.awaitLineWith("never", SOON))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("argument a");
            assertThat(child.awaitExit(SOON)).isEqualTo(3);
        }
    }

    @Test
    void terminate_runsShutdownHooksAndKeepsTheirOutput() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.awaitLineWith("ready", SOON);
            child.terminate();
            child.awaitLineWith("hook", SOON);
            assertThat(child.awaitExit(SOON)).isEqualTo(128 + 15);
        }
    }

    @Test
    void kill_runsNothing() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.awaitLineWith("ready", SOON);
            child.kill();
            assertThat(child.isAlive()).isFalse();
            assertThat(child.awaitExit(SOON)).isEqualTo(128 + 9);
            assertThat(child.lines()).doesNotContain("hook");
        }
    }

    @Test
    void stop_standsStillUntilResumed() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.awaitLineWith("ready", SOON);
            child.stop();
            child.writeLine("one");
            assertThatThrownBy(() -> child.awaitLineWith("echo ", Duration.ofMillis(300)))
                    .isInstanceOf(AssertionError.class);
            assertThat(child.isAlive()).isTrue();
            child.resume();
            assertThat(child.awaitLineWith("echo ", SOON)).isEqualTo("one");
        }
    }

    @Test
    void close_killsAStoppedChild() {
        ChildJvm child = ChildJvm.of(Echo.class).start();
        child.awaitLineWith("ready", SOON);
        child.stop();
        child.close();
        child.close();
        assertThat(child.isAlive()).isFalse();
    }

    @Test
    void parentKilled_childEndsByItself() throws Exception {
        try (ChildJvm parent = ChildJvm.of(Parent.class).start()) {
            ProcessHandle grandchild = ProcessHandle.of(Long.parseLong(parent.awaitLineWith("child ", SOON)))
                    .orElseThrow();
            assertThat(grandchild.isAlive()).isTrue();
            parent.kill();
            grandchild.onExit().get(SOON.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(grandchild.isAlive()).isFalse();
        }
    }

    @Test
    void haltAt_secondOccurrence_endsThereAndNowhereElse() {
        try (ChildJvm child = ChildJvm.of(Stepping.class)
                .crashAt(CrashPoint.haltAt("b.done").occurrence(2))
                .start()) {
            child.awaitCrash(SOON);
            assertThat(child.lines()).containsExactly("a.done", "b.done", "a.done");
        }
    }

    @Test
    void holdAt_staysUntilReleased() {
        try (ChildJvm child =
                ChildJvm.of(Stepping.class).crashAt(CrashPoint.holdAt("b.done")).start()) {
            child.awaitHeld(SOON);
            assertThat(child.lines()).containsExactly("a.done", "@@held b.done#1#HOLD");
            child.release();
            assertThat(child.awaitExit(SOON)).isZero();
            assertThat(child.lines()).hasSize(7);
        }
    }

    @Test
    void noCrashPoint_runsThrough() {
        try (ChildJvm child = ChildJvm.of(Stepping.class).start()) {
            assertThat(child.awaitExit(SOON)).isZero();
            assertThatThrownBy(() -> child.awaitCrash(SOON)).isInstanceOf(AssertionError.class);
        }
    }

    @Test
    void mainThrows_endsWithStatusOne() {
        try (ChildJvm child = ChildJvm.of(Throwing.class).start()) {
            assertThat(child.awaitExit(SOON)).isEqualTo(1);
            child.awaitLine(line -> line.contains("on purpose"), SOON);
        }
    }

    static final class Echo {
        private Echo() {}

        public static void main(String[] arguments) throws IOException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            for (String argument : arguments) {
                System.out.println("argument " + argument);
            }
            System.out.println("ready");
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (line.startsWith("end ")) {
                    System.exit(Integer.parseInt(line.substring(4)));
                }
                System.out.println("echo " + line);
            }
        }
    }

    static final class Parent {
        private Parent() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
                child.awaitLineWith("ready", SOON);
                System.out.println("child " + child.pid());
                new CountDownLatch(1).await();
            }
        }
    }

    static final class Stepping {
        private Stepping() {}

        public static void main(String[] arguments) {
            CrashPoints points = CrashPoints.ofThisProcess();
            for (int i = 0; i < 3; i++) {
                for (String step : new String[] {"a.done", "b.done"}) {
                    points.reached(step);
                    System.out.println(step);
                }
            }
        }
    }

    static final class Throwing {
        private Throwing() {}

        public static void main(String[] arguments) {
            Integer.parseInt("on purpose");
        }
    }
}
