package dev.idempotency.examples.chain;

import java.io.Console;
import java.lang.reflect.Method;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Live progress on standard error: a bar that is drawn over itself on a terminal, and a line every few seconds
 * elsewhere, so that a log holds neither control characters nor a thousand bars.
 */
final class ProgressDisplay implements AutoCloseable {
    private static final int WIDTH = 100;

    private final ProgressBar bar;

    ProgressDisplay(int steps) {
        boolean terminal = isTerminal();
        this.bar = ProgressBar.builder()
                .setTaskName("order chain")
                .setInitialMax(steps)
                .setStyle(terminal ? ProgressBarStyle.COLORFUL_UNICODE_BLOCK : ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(terminal ? 200 : 5000)
                .setMaxRenderedLength(WIDTH)
                .setConsumer(consumer(terminal))
                .hideEta()
                .build();
    }

    void show(long step, String message) {
        bar.stepTo(Math.min(bar.getMax(), step));
        bar.setExtraMessage(" " + message);
    }

    // The library's own choice needs JLine, which takes over the terminal for a bar that needs nothing of it.
    private static ProgressBarConsumer consumer(boolean terminal) {
        return terminal
                ? new ConsoleProgressBarConsumer(System.err, WIDTH)
                : new DelegatingProgressBarConsumer(System.err::println, WIDTH);
    }

    @SuppressWarnings("SystemConsoleNull") // That null is no longer the whole answer is what saysTerminal is for.
    private static boolean isTerminal() {
        Console console = System.console();
        return console != null && !"dumb".equals(System.getenv("TERM")) && saysTerminal(console);
    }

    /** From JDK 22 on there is a console even without a terminal, and it has to be asked. */
    private static boolean saysTerminal(Console console) {
        try {
            Method isTerminal = Console.class.getMethod("isTerminal");
            return Boolean.TRUE.equals(isTerminal.invoke(console));
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    @Override
    public void close() {
        bar.close();
    }
}
