package dev.idempotency.shutdown;

import dev.idempotency.shutdown.ShutdownReport.ClosedEarly;
import dev.idempotency.shutdown.ShutdownReport.Done;
import dev.idempotency.shutdown.ShutdownReport.Failed;
import dev.idempotency.shutdown.ShutdownReport.Outcome;
import dev.idempotency.shutdown.ShutdownReport.Step;
import dev.idempotency.shutdown.ShutdownReport.StillRunning;
import dev.idempotency.shutdown.ShutdownReport.TimedOut;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;

/**
 * Every line that a shutdown logs. A logging system that is already half stopped may throw; that must not stop the
 * shutdown, so such a line is lost.
 */
final class ShutdownLog {
    private static final int MOST_LISTED = 20;
    private static final int LONGEST_LABEL = 200;

    private final Logger logger;

    ShutdownLog(Logger logger) {
        this.logger = logger;
    }

    void begins(Reason reason, Duration grace) {
        line(() -> logger.info("shutdown begins reason=\"{}\" grace={}", printable(reason.text()), millis(grace)));
    }

    void otherHooks(List<String> threadNames) {
        if (threadNames.isEmpty()) {
            return;
        }
        line(() -> logger.info("shutdown runs beside other JVM shutdown hooks {}", threadNames));
    }

    void phaseBegins(Phase phase, int tasks, Duration left, long inFlight) {
        line(() -> logger.info(
                "shutdown phase={} begins tasks={} left={} inFlight={}", phase, tasks, millis(left), inFlight));
    }

    void stepEnds(Step step) {
        Outcome outcome = step.outcome();
        String took = millis(step.took());
        if (outcome instanceof TimedOut timedOut) {
            line(() -> logger.warn(
                    "shutdown phase={} task={} timed out after {}, still running: {}",
                    step.phase(),
                    step.name(),
                    took,
                    listed(timedOut.stillRunning())));
        } else if (outcome instanceof Failed failed) {
            line(() -> logger.warn(
                    "shutdown phase={} task={} failed took={}", step.phase(), step.name(), took, failed.cause()));
        } else if (outcome instanceof ClosedEarly) {
            line(() -> logger.error(
                    "shutdown phase={} {} is closed before its phase: another owner is closing it",
                    step.phase(),
                    step.name()));
        } else {
            line(() -> logger.info("shutdown phase={} task={} done took={}", step.phase(), step.name(), took));
        }
    }

    void stepEndsLate(Step step) {
        String how = step.outcome() instanceof Done ? "done" : "failed";
        line(() -> logger.info(
                "shutdown phase={} task={} {} after it was given up took={}",
                step.phase(),
                step.name(),
                how,
                millis(step.took())));
    }

    void ends(ShutdownReport report) {
        String took = millis(report.took());
        if (report.clean()) {
            line(() -> logger.info("shutdown ends clean took={}", took));
        } else {
            line(() -> logger.warn("shutdown ends UNCLEAN took={} not done: {}", took, notDone(report)));
        }
    }

    void calledAgain(ShutdownRun run, Reason secondReason, boolean firstRepetition) {
        String second = printable(secondReason.text());
        String secondThread = Thread.currentThread().getName();
        String first = printable(run.reason().text());
        if (firstRepetition) {
            line(() -> logger.warn(
                    "shutdown is already under way: asked for by \"{}\" on {}, and again by \"{}\" on {}; is there a"
                            + " second owner?",
                    first,
                    run.begunBy(),
                    second,
                    secondThread));
        } else {
            line(() -> logger.debug("shutdown asked for again by \"{}\" on {}", second, secondThread));
        }
    }

    void overdue(String description) {
        line(() -> logger.error("{}; not halting, because this instance does not own the JVM", description));
    }

    private static String listed(List<StillRunning> running) {
        StringBuilder text = new StringBuilder("[");
        for (StillRunning one : running.subList(0, Math.min(MOST_LISTED, running.size()))) {
            text.append(text.length() == 1 ? "" : ", ")
                    .append(printable(one.label()))
                    .append(" age=")
                    .append(millis(one.age()))
                    .append(" thread=")
                    .append(one.threadName());
        }
        if (running.size() > MOST_LISTED) {
            text.append(", and ").append(running.size() - MOST_LISTED).append(" more");
        }
        return text.append(']').toString();
    }

    private static String notDone(ShutdownReport report) {
        StringBuilder text = new StringBuilder("[");
        for (Step step : report.steps()) {
            if (!(step.outcome() instanceof Done)) {
                text.append(text.length() == 1 ? "" : ", ")
                        .append(step.phase())
                        .append(' ')
                        .append(step.name());
            }
        }
        return text.append(']').toString();
    }

    /** A label may hold a path that a client chose: no line breaks, no flood. */
    private static String printable(String label) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(LONGEST_LABEL, label.length()); i++) {
            char character = label.charAt(i);
            text.append(Character.isISOControl(character) ? '?' : character);
        }
        return text.toString();
    }

    private static String millis(Duration duration) {
        return duration.toMillis() + "ms";
    }

    private static void line(Runnable write) {
        try {
            write.run();
        } catch (RuntimeException | Error lost) {
            // There is nowhere left to say it, and whoever comes after must still be closed.
        }
    }
}
