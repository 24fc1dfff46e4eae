package dev.idempotency.verification.matrix;

import dev.idempotency.testkit.process.ChildJvm;
import dev.idempotency.testkit.process.CrashPoints;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/**
 * A process that serves one call after another, each until it ends, or until it halts or is held at a step; told what to do
 * by lines on its standard input.
 */
final class CaseProcess implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String READY = "ready";
    private static final String HALTING = "halting at ";
    private static final String HELD = "held at ";
    private static final String REPLY = "reply ";
    private static final String GO = "go";

    private final ChildJvm jvm;

    private CaseProcess(ChildJvm jvm) {
        this.jvm = jvm;
    }

    static CaseProcess start() {
        return new CaseProcess(ChildJvm.of(CaseProcess.class)
                .systemProperty("org.slf4j.simpleLogger.defaultLogLevel", "error")
                .start());
    }

    /** Makes the process call its service and end at the step. */
    void callAndHalt(Case of, Trial trial) {
        send(of, trial, Crash.HALT);
        String line = jvm.awaitLine(text -> text.startsWith(HALTING) || text.startsWith(REPLY), SOON);
        requireReached(line, HALTING, of);
        jvm.awaitCrash(SOON);
    }

    /** Makes the process call its service, and stops it when it stands at the step. */
    void callAndStop(Case of, Trial trial) {
        send(of, trial, Crash.STOP);
        String line = jvm.awaitLine(text -> text.startsWith(HELD) || text.startsWith(REPLY), SOON);
        requireReached(line, HELD, of);
        jvm.stop();
    }

    private static void requireReached(String line, String wanted, Case of) {
        if (!line.startsWith(wanted)) {
            throw new AssertionError("The step " + of.step() + " was not reached, so nothing was tested: " + line);
        }
    }

    /** Lets a stopped process go on, and returns what it told its client. */
    Reply resume() {
        jvm.resume();
        jvm.writeLine(GO);
        return Reply.parse(jvm.awaitLineWith(REPLY, SOON));
    }

    private void send(Case of, Trial trial, Crash crash) {
        jvm.awaitLine(READY::equals, SOON);
        jvm.writeLine(String.join(
                "|",
                of.subject().name(),
                of.mutant().name(),
                trial.site().url(),
                trial.site().outsideUrl(),
                trial.site().brokers(),
                trial.key(),
                of.step(),
                Integer.toString(of.occurrence()),
                crash.name()));
    }

    @Override
    public void close() {
        jvm.close();
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
        Semaphore released = new Semaphore(0);
        System.out.println(READY);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.equals(GO)) {
                released.release();
            } else {
                String[] parts = line.split("\\|", -1);
                new Thread(() -> serve(parts, released), "case").start();
            }
        }
    }

    private static void serve(String[] parts, Semaphore released) {
        Subject subject = Subjects.named(parts[0]);
        Site site = new Site(parts[2], parts[3], parts[4]);
        Crash crash = Crash.valueOf(parts[8]);
        AtStep steps = new AtStep(parts[6], Integer.parseInt(parts[7]), () -> crash(crash, parts[6], released));
        Reply reply;
        try (Service service = subject.serve(site, steps, Mutant.valueOf(parts[1]))) {
            long deadline = System.nanoTime() + SOON.toNanos();
            do {
                reply = service.call(parts[5]);
            } while (!steps.isReached() && !reply.isFinal() && System.nanoTime() < deadline);
        } catch (Exception e) {
            reply = Reply.again(e);
        }
        System.out.println(REPLY + reply.format());
        System.out.println(READY);
    }

    private static void crash(Crash crash, String step, Semaphore released) {
        if (crash == Crash.HALT) {
            System.out.println(HALTING + step);
            System.out.flush();
            Runtime.getRuntime().halt(CrashPoints.HALT_STATUS);
        }
        System.out.println(HELD + step);
        released.acquireUninterruptibly();
    }
}
