package dev.idempotency.testkit.process;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What a child process really starts: ties the process to its parent's life, then runs the main class meant. */
final class ChildMain {
    private static volatile @Nullable ParentLink link;

    private ChildMain() {}

    public static void main(String[] arguments) throws Exception {
        ParentLink opened = ParentLink.open(System.in);
        link = opened;
        System.setIn(opened.standardInput());
        Method main = Class.forName(arguments[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Exception exception) {
                throw exception;
            }
            throw thrown;
        }
    }

    static ParentLink link() {
        ParentLink opened = link;
        if (opened == null) {
            throw new IllegalStateException("Crash points work in a process started by " + ChildJvm.class.getName()
                    + " only; give the decorators a Steps of your own elsewhere");
        }
        return opened;
    }
}
