package dev.idempotency.testkit.process;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The {@link Steps} of a child process: counts the steps and halts or holds the process at the points its parent chose.
 *
 * <p>Safe for use by many threads; of threads that reach a step at once exactly one makes the n-th occurrence.
 */
public final class CrashPoints implements Steps {
    /** The system property that carries the points from the parent. */
    static final String PROPERTY = "idempotency.testkit.crash";

    /** The exit status of a process that halted at a crash point. */
    public static final int HALT_STATUS = 86;

    static final String HELD = "@@held ";

    private final List<CrashPoint> points;
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final ParentLink parent;
    private final PrintStream output;

    private CrashPoints(List<CrashPoint> points, ParentLink parent, PrintStream output) {
        this.points = List.copyOf(points);
        this.parent = parent;
        this.output = output;
    }

    /**
     * Returns the points that the parent gave this process; without any, steps are only counted.
     *
     * <p>A process makes one and hands it to all its decorators, so that occurrences are counted together.
     *
     * @return the points
     * @throws IllegalStateException if this process is no child started by {@link ChildJvm}
     */
    public static CrashPoints ofThisProcess() {
        String text = System.getProperty(PROPERTY, "");
        List<CrashPoint> points = text.isEmpty()
                ? List.of()
                : Arrays.stream(text.split(",")).map(CrashPoint::parse).toList();
        return new CrashPoints(points, ChildMain.link(), System.out);
    }

    @Override
    public void reached(String step) {
        int occurrence =
                counts.computeIfAbsent(step, name -> new AtomicInteger()).incrementAndGet();
        for (CrashPoint point : points) {
            if (point.step().equals(step) && point.occurrence() == occurrence) {
                act(point);
            }
        }
    }

    /**
     * Returns how often a step has been reached so far.
     *
     * @param step the step's name
     * @return 0 or more
     */
    public int count(String step) {
        AtomicInteger count = counts.get(step);
        return count == null ? 0 : count.get();
    }

    private void act(CrashPoint point) {
        if (point.action() == CrashPoint.Action.HALT) {
            output.flush();
            Runtime.getRuntime().halt(HALT_STATUS);
        }
        output.println(HELD + point.format());
        output.flush();
        parent.awaitRelease();
    }
}
