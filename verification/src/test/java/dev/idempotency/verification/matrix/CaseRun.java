package dev.idempotency.verification.matrix;

import dev.idempotency.IdempotencyException;
import dev.idempotency.testkit.fault.TcpProxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Runs one case: a call that crashes, a client that repeats it until it has its answer, and a look at the database. */
final class CaseRun {
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final Bench bench;
    private final Case of;
    private final Subject subject;
    private final Trial trial;
    private volatile int connectionsCut = -1;
    private @Nullable String violation;

    private CaseRun(Bench bench, Case of) {
        this.bench = bench;
        this.of = of;
        this.subject = of.subject();
        String key = bench.newKey();
        this.trial = new Trial(key, bench.site(of, key), bench, Optional.of(of));
    }

    static Verdict run(Bench bench, Case of) throws Exception {
        long begin = System.nanoTime();
        CaseRun run = new CaseRun(bench, of);
        run.subject.prepare(run.trial);
        switch (of.crash()) {
            case HALT -> run.halt();
            case STOP -> run.stop();
            default -> run.disturb();
        }
        return new Verdict(
                of,
                run.trial.replies(),
                Optional.ofNullable(run.violation),
                Duration.ofNanos(System.nanoTime() - begin));
    }

    private void halt() throws Exception {
        try (CaseProcess process = bench.takeProcess()) {
            process.callAndHalt(of, trial);
        }
        check();
        try (Service successor = subject.serve(trial.site().undisturbed(), step -> {}, of.mutant())) {
            settle(successor);
        }
    }

    private void stop() throws Exception {
        CaseProcess process = bench.takeProcess();
        boolean alive = false;
        try {
            process.callAndStop(of, trial);
            // Only now: a successor that is there before may be faster than the owner.
            try (Service successor = subject.serve(trial.site().undisturbed(), step -> {}, of.mutant())) {
                Reply meanwhile = hear(successor);
                note(subject.checkWhileStopped(of.step(), meanwhile));
                settle(successor);
                trial.heard(process.resume());
                alive = true;
                check();
                repeat(successor);
            }
        } finally {
            if (alive) {
                bench.giveBack(process);
            } else {
                process.close();
            }
        }
    }

    private void disturb() throws Exception {
        TcpProxy network = bench.network(subject.dialect());
        AtStep steps = new AtStep(of.step(), of.occurrence(), () -> crash(network));
        try (Service service = subject.serve(trial.site(), steps, of.mutant())) {
            long deadline = System.nanoTime() + subject.bound().toNanos();
            Reply reply = hear(service);
            // A relay answers "not yet" when the step is still to come.
            while (!isStruck(steps, network) && !reply.isFinal() && System.nanoTime() < deadline) {
                reply = hear(service);
            }
            if (!isStruck(steps, network)) {
                note(Optional.of("the step was not reached, so nothing was tested"));
            }
            if (connectionsCut == 0) {
                note(Optional.of("no connection was there to be cut, so nothing was tested"));
            }
            network.resume();
            settle(service);
        } finally {
            network.resume();
        }
    }

    private static boolean isStruck(AtStep steps, TcpProxy network) {
        return steps.isReached() && network.answerLost();
    }

    private void crash(TcpProxy network) {
        switch (of.crash()) {
            case CUT -> connectionsCut = network.cut();
            case UNREACHABLE -> {
                network.refuse();
                network.cut();
            }
            case LOST_ANSWER -> network.loseAnswerTo("");
            case BROKER_CUT -> connectionsCut = bench.broker().cut();
            default -> throw new IllegalStateException("Nothing is to happen at " + of.step());
        }
    }

    /** Repeats the call, as a client is told to, until there is an answer; and then once more. */
    private void settle(Service service) throws Exception {
        // A mutant that never answers need not be waited for that long to be found.
        Duration bound =
                of.mutant() == Mutant.NONE ? subject.bound() : subject.bound().dividedBy(2);
        long deadline = System.nanoTime() + bound.toNanos();
        Reply last = null;
        while (last == null || !last.isFinal()) {
            if (System.nanoTime() > deadline) {
                note(Optional.of("no answer within " + bound + " of repeating; the last was: " + last));
                return;
            }
            if (last != null) {
                LockSupport.parkNanos(PAUSE.toNanos());
            }
            if (last == null) {
                subject.endLeases(trial, of.crash().needsProcess());
            }
            last = hear(service);
        }
        note(subject.checkSettled(trial, last));
        repeat(service);
    }

    private void repeat(Service service) throws Exception {
        Reply repeated = hear(service);
        note(subject.checkSettled(trial, repeated));
    }

    private Reply hear(Service service) throws Exception {
        Reply reply;
        try {
            reply = service.call(trial.key());
        } catch (IdempotencyException | SQLException e) {
            reply = Reply.again(e);
        } catch (RuntimeException e) {
            reply = Reply.again(e);
            note(Optional.of("a raw exception instead of an answer: " + e));
        }
        trial.heard(reply);
        check();
        return reply;
    }

    private void check() {
        note(subject.check(trial));
    }

    /** The first thing that is wrong is the one to be told. */
    private void note(Optional<String> wrong) {
        if (violation == null) {
            violation = wrong.orElse(null);
        }
    }
}
