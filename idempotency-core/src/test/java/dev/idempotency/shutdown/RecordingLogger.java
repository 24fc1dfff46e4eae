package dev.idempotency.shutdown;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** Keeps every line, as {@code LEVEL message}. */
final class RecordingLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    private final transient List<String> lines = new CopyOnWriteArrayList<>();

    private transient Consumer<String> listener = line -> {};

    /** Calls the listener before each line is kept, on the logging thread. */
    void onLine(Consumer<String> listener) {
        this.listener = listener;
    }

    List<String> lines() {
        return lines;
    }

    List<String> lines(Level level) {
        return lines.stream().filter(line -> line.startsWith(level + " ")).toList();
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            String message,
            Object @Nullable [] arguments,
            @Nullable Throwable throwable) {
        String line = level + " " + MessageFormatter.basicArrayFormat(message, arguments);
        listener.accept(line);
        lines.add(line);
    }

    @Override
    public boolean isTraceEnabled() {
        return true;
    }

    @Override
    public boolean isDebugEnabled() {
        return true;
    }

    @Override
    public boolean isInfoEnabled() {
        return true;
    }

    @Override
    public boolean isWarnEnabled() {
        return true;
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }
}
