package dev.idempotency.outbox;

import dev.idempotency.OutboxEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the W3C trace context of the thread that appends, level 1 of the standard. */
final class TraceContext {
    private static final Logger log = LoggerFactory.getLogger(TraceContext.class);

    private static final String PARENT = "traceparent";
    private static final String STATE = "tracestate";

    /** Version, trace, span, flags; a later version may have more behind a dash. Neither id is all zero. */
    private static final Pattern WELL_FORMED = Pattern.compile(
            "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[\\x21-\\x7e]{1,200})?");

    private static final Pattern STATE_TEXT = Pattern.compile("[\\x20-\\x7e]{1,512}");

    private final Supplier<Map<String, String>> current;

    TraceContext(Supplier<Map<String, String>> current) {
        this.current = current;
    }

    /** Returns the headers of the trace under way; none if there is no trace, or what is there is not well-formed. */
    Map<String, String> headers() {
        try {
            Map<String, String> given = current.get();
            String parent = given.get(PARENT);
            if (parent == null || !WELL_FORMED.matcher(parent).matches()) {
                return Map.of();
            }
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put(PARENT, parent);
            String state = given.get(STATE);
            if (state != null && STATE_TEXT.matcher(state).matches()) {
                headers.put(STATE, state);
            }
            return headers;
        } catch (RuntimeException e) {
            log.debug("The trace context could not be read, so the event goes without it", e);
            return Map.of();
        }
    }

    static OutboxEvent added(Map<String, String> trace, OutboxEvent event) {
        return trace.isEmpty() || event.headers().containsKey(PARENT) ? event : event.withHeaders(trace);
    }
}
