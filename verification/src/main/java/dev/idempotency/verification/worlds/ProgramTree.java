package dev.idempotency.verification.worlds;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every point that any process can come to: a process is where the answers it has got have led it, so a point is known by
 * its number, and its program runs once for each.
 */
final class ProgramTree {
    private final World world;
    private final List<Point> points = new ArrayList<>();
    private final Map<List<Integer>, Point> beginnings = new HashMap<>();

    ProgramTree(World world) {
        this.world = world;
    }

    /** The point at which a process begins that has died so often. */
    Point beginning(int process, int life) {
        Point known = beginnings.get(List.of(process, life));
        if (known == null) {
            known = run(process, life, null, "");
            beginnings.put(List.of(process, life), known);
        }
        return known;
    }

    Point at(int number) {
        return points.get(number);
    }

    int size() {
        return points.size();
    }

    /** The point to which this answer leads. */
    Point after(Point point, Answer answer) {
        Point known = point.next.get(answer);
        if (known == null) {
            String label = point.pending == null ? "" : point.pending.label();
            String text = world.processName(point.process) + "  " + label
                    + ("nothing".equals(answer.toString()) || "done".equals(answer.toString()) ? "" : " -> " + answer);
            known = run(point.process, point.life, new Step(point, answer), text);
            point.next.put(answer, known);
        }
        return known;
    }

    private Point run(int process, int life, @Nullable Step step, String text) {
        Deque<Answer> answers = new ArrayDeque<>();
        Deque<String> labels = new ArrayDeque<>();
        for (Step each = step; each != null; each = each.from().step) {
            answers.addFirst(each.answer());
            Pending made = each.from().pending;
            labels.addFirst(made == null ? "" : made.label());
        }
        Actor actor = new Actor(process, life, List.copyOf(labels), new ArrayList<>(answers));
        String result;
        try {
            result = world.run(actor);
        } catch (Actor.Suspended suspended) {
            result = "";
        } catch (Exception e) {
            // What no program expects is a finding; shown as such by the worlds.
            result = World.RAW + e;
        }
        Point point = new Point(points.size(), process, life, step, text, actor.pending(), result);
        points.add(point);
        return point;
    }

    private record Step(Point from, Answer answer) {}

    /** A point: the step to come, or the result if there is none. */
    static final class Point {
        private final int number;
        private final int process;
        private final int life;
        private final @Nullable Step step;
        private final String text;
        private final @Nullable Pending pending;
        private final String result;
        private final Map<Answer, Point> next = new HashMap<>(4);

        private Point(
                int number,
                int process,
                int life,
                @Nullable Step step,
                String text,
                @Nullable Pending pending,
                String result) {
            this.number = number;
            this.process = process;
            this.life = life;
            this.step = step;
            this.text = text;
            this.pending = pending;
            this.result = result;
        }

        int number() {
            return number;
        }

        /** What led here, for people. */
        String text() {
            return text;
        }

        @Nullable
        Pending pending() {
            return pending;
        }

        boolean isBeginning() {
            return step == null;
        }

        /** How the program ended; of no meaning while a step is pending. */
        String result() {
            return result;
        }
    }
}
