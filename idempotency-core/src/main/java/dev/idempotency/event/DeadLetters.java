package dev.idempotency.event;

import dev.idempotency.ConsumerId;
import dev.idempotency.KeyDerivation;
import dev.idempotency.OutboxEvent;
import dev.idempotency.spi.EventHeader;
import dev.idempotency.spi.OutboxStore;
import dev.idempotency.spi.ParkedEvent;
import dev.idempotency.transaction.TransactionContext;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Announces parked events on a topic for dead letters, by way of the outbox; applications make one and give it to their
 * consumer.
 *
 * <p>The dead letter is written to the outbox in the transaction that parks the event, so there is one exactly if the event
 * is parked. It keeps key, value and headers. Its own id, in the header {@value OutboxEvent#EVENT_ID_HEADER}, is derived
 * from consumer, event and position; the event's id stands in {@value #EVENT_ID}, also after several hops. What is said
 * about the hop stands in the headers that begin with {@code deadLetter} and is replaced by the next hop, not added to.
 *
 * <p>The outbox knows headers as text under one name. A header that is no UTF-8 text, that repeats an earlier name, or whose
 * name the outbox needs itself, is kept under its name behind {@code base64:}, its value in Base64; one without a value
 * behind {@code null:}. Repeated ones get {@code #2}, {@code #3} and so on.
 *
 * <p>Immutable and safe for use by many threads.
 */
public final class DeadLetters {
    /** The header with the id of the event as the consumer knew it; the first place to look for the id in a replay. */
    public static final String EVENT_ID = "deadLetterEventId";

    /** The header with the consumer that parked the event. */
    public static final String CONSUMER = "deadLetterConsumer";

    /** The header with the place of the event: topic, partition and offset, joined by {@code /}. */
    public static final String POSITION = "deadLetterPosition";

    /** The header with the number of attempts, at most 1,000,000. */
    public static final String ATTEMPTS = "deadLetterAttempts";

    /** The header with the reason, for people; at most 500 characters. */
    public static final String REASON = "deadLetterReason";

    /** The header with how often the event has become a dead letter, at most 1,000. */
    public static final String HOPS = "deadLetterHops";

    private static final int MOST_ATTEMPTS = 1_000_000;
    private static final int MOST_HOPS = 1_000;
    private static final int LONGEST_REASON = 500;
    private static final int LONGEST_NAME = 255;
    private static final int LONGEST_TENANT = 64;

    private final String topic;
    private final OutboxStore outbox;

    private DeadLetters(String topic, OutboxStore outbox) {
        this.topic = topic;
        this.outbox = outbox;
    }

    /**
     * Returns dead letters on a topic.
     *
     * @param topic the topic's name; its records may be as large as those of the topics that are consumed
     * @param outbox the outbox, in the database of the consumer's store, from which a relay publishes
     * @return the dead letters
     * @throws IllegalArgumentException if a broker would refuse the name
     */
    public static DeadLetters to(String topic, OutboxStore outbox) {
        OutboxEvent.to(topic);
        return new DeadLetters(topic, Objects.requireNonNull(outbox, "outbox"));
    }

    /**
     * Returns where the dead letters go.
     *
     * @return the topic's name
     */
    public String topic() {
        return topic;
    }

    OutboxStore outbox() {
        return outbox;
    }

    void append(TransactionContext transaction, ConsumerId consumer, ParkedEvent event) {
        outbox.append(transaction, List.of(deadLetter(consumer, event)));
    }

    OutboxEvent deadLetter(ConsumerId consumer, ParkedEvent event) {
        OutboxEvent.Builder letter = OutboxEvent.to(topic).eventId(derivedId(consumer, event));
        byte[] key = event.key();
        if (key != null) {
            letter.key(key);
        }
        byte[] value = event.value();
        if (value != null) {
            letter.payload(value);
        }
        int hops = 0;
        String firstId = null;
        Map<String, Integer> times = new HashMap<>();
        for (EventHeader header : event.headers()) {
            String text = text(header.value());
            switch (header.name()) {
                case OutboxEvent.EVENT_ID_HEADER, CONSUMER, POSITION, ATTEMPTS, REASON -> {
                    // Said anew below.
                }
                case HOPS -> hops = clamped(text, MOST_HOPS);
                case EVENT_ID -> firstId = firstId == null ? text : firstId;
                default -> keep(letter, header, text, times.merge(header.name(), 1, Integer::sum));
            }
        }
        String id = firstId == null || firstId.isBlank() ? event.id().value() : firstId;
        return letter.header(EVENT_ID, id)
                .header(CONSUMER, consumer.value())
                .header(
                        POSITION,
                        event.partition().topic() + "/" + event.partition().number() + "/" + event.offset())
                .header(ATTEMPTS, Integer.toString(Math.min(event.attempts(), MOST_ATTEMPTS)))
                .header(REASON, reason(event.reason()))
                .header(HOPS, Integer.toString(Math.min(hops + 1, MOST_HOPS)))
                .build();
    }

    /** The place is part of it: one event may be parked at two, and each has a dead letter of its own. */
    private static UUID derivedId(ConsumerId consumer, ParkedEvent event) {
        String step = "dead letter " + event.partition().topicId() + "/"
                + event.partition().number() + "/" + event.offset();
        return UUID.fromString(KeyDerivation.of("dev.idempotency dead letters")
                .derive(consumer, event.id(), step)
                .value());
    }

    private static void keep(OutboxEvent.Builder letter, EventHeader header, @Nullable String text, int time) {
        String name = header.name();
        if (time == 1 && text != null && isKeptAsText(letter, name, text)) {
            return;
        }
        byte[] value = header.value();
        String shown = fitting(name) + (time == 1 ? "" : "#" + time);
        letter.header(
                (value == null ? "null:" : "base64:") + shown,
                value == null ? "" : Base64.getEncoder().encodeToString(value));
    }

    private static boolean isKeptAsText(OutboxEvent.Builder letter, String name, String text) {
        if (name.equals(OutboxEvent.EVENT_TYPE_HEADER) && isName(text, LONGEST_NAME)) {
            letter.type(text);
        } else if (name.equals(OutboxEvent.TENANT_HEADER) && isName(text, LONGEST_TENANT)) {
            letter.tenant(text);
        } else if (!isReserved(name) && isName(name, LONGEST_NAME)) {
            letter.header(name, text);
        } else {
            return false;
        }
        return true;
    }

    private static boolean isReserved(String name) {
        return name.equals(OutboxEvent.EVENT_TYPE_HEADER)
                || name.equals(OutboxEvent.TENANT_HEADER)
                || name.equals(OutboxEvent.SOURCE_HEADER)
                || name.equals(OutboxEvent.SEQUENCE_HEADER);
    }

    private static boolean isName(String text, int longest) {
        return !text.isBlank()
                && text.length() <= longest
                && text.chars().noneMatch(Character::isISOControl)
                && StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    /** A name that no header may have, made fit to be told; what stands in the parked row is exact. */
    private static String fitting(String name) {
        return fit(name, '?', LONGEST_NAME - 16);
    }

    private static String reason(String reason) {
        return fit(reason, ' ', LONGEST_REASON);
    }

    /**
     * The beginning of a text, without what the outbox refuses: a dead letter that cannot be written would keep the event
     * from being parked, and so hold the consumer up for ever.
     */
    private static String fit(String text, char instead, int longest) {
        StringBuilder fit = new StringBuilder();
        for (int i = 0; i < text.length(); ) {
            int next = text.codePointAt(i);
            i += Character.charCount(next);
            boolean unfit = Character.isISOControl(next) || Character.getType(next) == Character.SURROGATE;
            if (fit.length() + (unfit ? 1 : Character.charCount(next)) > longest) {
                break;
            }
            fit.appendCodePoint(unfit ? instead : next);
        }
        return fit.toString();
    }

    /** A number that somebody else wrote: 0 if it is none, and never beyond the bounds. */
    private static int clamped(@Nullable String text, int most) {
        try {
            return text == null ? 0 : (int) Math.max(0, Math.min(Long.parseLong(text.strip()), most));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static @Nullable String text(byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(value))
                    .toString();
            // Some databases keep no zero characters, and no text needs the others.
            return text.chars().anyMatch(Character::isISOControl) ? null : text;
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
