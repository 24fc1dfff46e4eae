package dev.idempotency.shutdown;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a platform sees: real processes, real signals, exit statuses and times. */
@Timeout(120)
class ShutdownSignalIT {
    /** The status of a process that SIGTERM has ended, 128 + 15. */
    private static final int TERMINATED = 143;

    /** What a loaded machine may add to the grace period until the parent has seen the end. */
    private static final Duration SLACK = Duration.ofMillis(2_500);

    @Test
    void signal_workInFlight_isFinishedBeforeAnythingIsClosed() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.OK)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(
                    child.output(),
                    "shutdown begins reason=\"end of the JVM, owned by main\"",
                    "worker done",
                    "phase=DRAIN task=in-flight done",
                    "closed server",
                    "closed pool",
                    "shutdown ends clean");
        }
    }

    @Test
    void signal_longTransactions_areNamedAndTheProcessEndsWithinTheGracePeriod() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LONG_TRANSACTION)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isLessThan(ShutdownScenario.GRACE.plus(SLACK));
            assertThat(String.join("\n", child.output()))
                    .containsPattern("in-flight timed out after \\d+ms, still running: \\[.*POST /pay age=\\d+ms"
                            + " thread=main");
            assertInOrder(child.output(), "event billing age=", "closed pool", "ends UNCLEAN", "[DRAIN in-flight]");
        }
    }

    @Test
    void signal_permitNeverClosed_isNamedWithItsAgeAndItsThreadThatIsGone() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LEAKED_PERMIT)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isLessThan(ShutdownScenario.GRACE.plus(SLACK));
            assertThat(String.join("\n", child.output()))
                    .containsPattern("in-flight timed out after \\d+ms, still running: \\[POST /leak age=\\d+ms"
                            + " thread=leaky-7\\]");
            assertInOrder(child.output(), "closed pool", "ends UNCLEAN", "[DRAIN in-flight]");
        }
    }

    @Test
    void signal_workerUsesH2_isNotInterruptedAndTheDatabaseStaysOpen() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.H2_WORKER)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "in-flight timed out", "count age=", "the database is open", "UNCLEAN");
        }
    }

    @Test
    void signal_firstCloserHangs_theOthersAreClosed() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.CLOSER_HANGS_FIRST)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isLessThan(ShutdownScenario.GRACE.plus(SLACK));
            assertInOrder(
                    child.output(), "task=server timed out", "closed producer", "closed pool", "UNCLEAN", "server");
        }
    }

    @Test
    void signal_lastCloserHangs_theProcessEndsWithinTheGracePeriod() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.CLOSER_HANGS_LAST)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isLessThan(ShutdownScenario.GRACE.plus(SLACK));
            assertInOrder(child.output(), "closed server", "closed producer", "task=pool timed out", "UNCLEAN");
        }
    }

    @Test
    void signal_closerThrows_theOthersAreClosed() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.CLOSER_THROWS)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(
                    child.output(), "task=server failed", "server does not stop", "closed pool", "[CLOSE server]");
        }
    }

    @Test
    void signal_closerCallsExit_theOthersAreClosedAndTheProcessEnds() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.CLOSER_EXITS)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isLessThan(ShutdownScenario.GRACE.plus(SLACK));
            assertInOrder(child.output(), "task=server timed out", "closed pool", "UNCLEAN");
        }
    }

    @Test
    void start_secondOwner_isRefusedAndStepsRunOnce() throws Exception {
        try (ChildJvm child = started(ShutdownScenario.TWO_OWNERS)) {
            child.awaitLine("refused: ");
            child.terminate();
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "'second': it is owned by 'main'", "closed pool", "ends clean");
            assertThat(times(child, "closed pool")).isEqualTo(1);
        }
    }

    @Test
    void signal_rogueHookClosesAResource_isAnErrorInTheReport() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.ROGUE_HOOK)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(times(child, "pool is closed before its phase: another owner is closing it"))
                    .isEqualTo(1);
            assertInOrder(child.output(), "rogue closed the pool", "ERROR", "ends UNCLEAN", "pool");
        }
    }

    @Test
    void signal_twoCallers_secondReturnsWhenTheOneRunHasEnded() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.TWO_CALLERS)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(
                    child.output(),
                    "already under way",
                    "closed pool",
                    "ends clean",
                    "second caller returns clean=true");
            assertThat(times(child, "closed pool")).isEqualTo(1);
            assertThat(times(child, "shutdown begins")).isEqualTo(1);
        }
    }

    @Test
    void signal_repeated_changesNothing() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.MANY_SIGNALS)) {
            child.awaitLine("DRAINING");
            child.terminate();
            child.signal("TERM");
            child.signal("INT");
            child.endInput();
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "DRAINING", "read -1", "closed pool", "ends clean");
            assertThat(times(child, "shutdown begins")).isEqualTo(1);
            assertThat(times(child, "closed pool")).isEqualTo(1);
        }
    }

    @Test
    void signal_interruptFromTheKeyboard_isTheSame() throws Exception {
        try (ChildJvm child = started(ShutdownScenario.OK)) {
            child.signal("INT");
            assertThat(child.awaitExit()).isEqualTo(128 + 2);
            assertInOrder(child.output(), "worker done", "closed pool", "ends clean");
        }
    }

    @Test
    void signal_duringStartBeforeOwnership_claimIsRefusedAndLeavesNothing() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.SIGNAL_DURING_START)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "refused: Cannot own", "the JVM is already ending", "claimed=null");
            assertThat(times(child, "shutdown begins")).isZero();
        }
    }

    @Test
    void signal_lameDuck_admitsThenRefuses() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LAME_DUCK)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.sinceSignal()).isGreaterThan(Duration.ofMillis(400));
            assertInOrder(
                    child.output(),
                    "ANNOUNCE ready=false admitted=true",
                    "STOP_INTAKE ready=false admitted=false",
                    "ends clean");
        }
    }

    @Test
    void signal_workerUsesAFileChannel_isNotInterrupted() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.FILE_CHANNEL)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(
                    child.output(), "in-flight timed out", "write age=", "open=true interrupted=false", "UNCLEAN");
        }
    }

    @Test
    void signal_registrationAfterTheBegin_isRefused() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LATE_REGISTRATION)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "refused: Cannot register 'late'", "state is DRAINING", "ends clean");
        }
    }

    @Test
    void signal_ownershipClosedInsideTheHook_theRunGoesOn() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.OWNERSHIP_CLOSED_IN_HOOK)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertInOrder(child.output(), "given up, claimed=null", "closed pool", "ends clean");
        }
    }

    @Test
    void signal_logBlocks_watchdogSaysWhereAndHaltsAtTheEndOfTheGracePeriod() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LOG_BLOCKS)) {
            assertThat(child.awaitExit()).isEqualTo(77);
            assertThat(child.sinceSignal()).isBetween(ShutdownScenario.GRACE, ShutdownScenario.GRACE.plus(SLACK));
            assertInOrder(
                    child.output(),
                    "shutdown has not finished within 3000ms, state=DRAINING",
                    "  idempotency-shutdown WAITING",
                    "BlockingStream.write",
                    "halting with status 77");
        }
    }

    @Test
    void signal_hookOfSomebodyElseHangs_theProcessEndsNevertheless() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.OTHER_HOOK_HANGS)) {
            assertThat(child.awaitExit()).isEqualTo(1);
            assertThat(child.sinceSignal()).isBetween(ShutdownScenario.GRACE, ShutdownScenario.GRACE.plus(SLACK));
            assertInOrder(child.output(), "ends clean", "state=STOPPED", "somebody's hook", "halting with status 1");
        }
    }

    @Test
    void signal_processIsStoppedBeyondTheGracePeriod_endsAtOnceWhenContinued() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.LONG_TRANSACTION)) {
            child.awaitLine("phase=DRAIN begins");
            child.signal("STOP");
            assertThat(child.isAliveAfter(ShutdownScenario.GRACE)).isTrue();
            long continued = System.nanoTime();
            child.signal("CONT");
            assertThat(child.awaitExit()).isIn(TERMINATED, 1);
            assertThat(Duration.ofNanos(System.nanoTime() - continued)).isLessThan(SLACK);
        }
    }

    @Test
    void signal_nobodyOwnsTheJvm_theLibraryDoesNothing() throws Exception {
        try (ChildJvm child = terminated(ShutdownScenario.NO_OWNER)) {
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            assertThat(child.output()).containsExactly("READY");
        }
    }

    @Test
    void shutdown_lastApplicationThreadEnds_theRunKeepsTheJvmAlive() throws Exception {
        try (ChildJvm child = started(ShutdownScenario.PROGRAM_ASKS)) {
            assertThat(child.awaitExit()).isZero();
            assertInOrder(child.output(), "reason=\"admin\"", "closed pool", "ends clean");
        }
    }

    @Test
    void rule11_realShutdown_loadsNoClassOfThisPackageAnyMore() throws Exception {
        try (ChildJvm child = ChildJvm.start(
                List.of("-Xlog:class+load:stdout"), ShutdownScenario.class, ShutdownScenario.CLOSER_THROWS.name())) {
            child.awaitLine("READY");
            child.terminate();
            assertThat(child.awaitExit()).isEqualTo(TERMINATED);
            List<String> output = child.output();
            List<String> late = output.subList(indexOf(output, 0, "READY"), output.size());
            assertInOrder(late, "shutdown begins", "ends UNCLEAN");
            assertThat(late)
                    .filteredOn(line -> line.contains("[class,load]") && line.contains("dev.idempotency.shutdown."))
                    .filteredOn(line -> !line.contains("ShutdownScenario"))
                    .isEmpty();
        }
    }

    private static ChildJvm started(ShutdownScenario scenario) throws Exception {
        ChildJvm child = ChildJvm.start(List.of(), ShutdownScenario.class, scenario.name());
        try {
            if (scenario.staysAlive()) {
                child.awaitLine("READY");
            }
            return child;
        } catch (Throwable failure) {
            child.close();
            throw failure;
        }
    }

    private static ChildJvm terminated(ShutdownScenario scenario) throws Exception {
        ChildJvm child = started(scenario);
        child.terminate();
        return child;
    }

    private static long times(ChildJvm child, String text) {
        return child.output().stream().filter(line -> line.contains(text)).count();
    }

    /** Every text is found, on the line where the one before was found or further down. */
    private static void assertInOrder(List<String> output, String... texts) {
        assertThat(output).noneMatch(line -> line.contains("BROKEN"));
        int from = 0;
        for (String text : texts) {
            from = indexOf(output, from, text);
        }
    }

    private static int indexOf(List<String> output, int from, String text) {
        for (int i = from; i < output.size(); i++) {
            if (output.get(i).contains(text)) {
                return i;
            }
        }
        throw new AssertionError("no '" + text + "' from line " + from + " on in:\n" + String.join("\n", output));
    }
}
