package dev.idempotency.kafka;

import dev.idempotency.EventId;
import dev.idempotency.event.DeadLetters;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The usual places of an event's id; applications give them to {@link IdempotentConsumerBuilder#eventIds}.
 *
 * <p>An id in a header may be written as UTF-8 text, as a JSON string in its quotes, or as the 16 bytes of a UUID. All
 * three forms of one UUID are the same id. A header that stands several times must have the same value each time.
 */
public final class EventIds {
    /** The longest header value looked at: an id of the greatest length, escaped as JSON throughout. */
    private static final int LONGEST_HEADER = 6 * EventId.MAX_BYTES + 2;

    private static final int UUID_BYTES = 16;

    private EventIds() {}

    /**
     * Returns the default chain: the event's id in one of this library's dead letters, the header {@code eventId} of its outbox, the id of a CloudEvent, the header
     * {@code id} of Debezium's outbox router.
     *
     * @return the extractor
     */
    public static EventIdExtractor ofDefaults() {
        return firstOf(header(DeadLetters.EVENT_ID), header("eventId"), cloudEvent(), header("id"));
    }

    /**
     * Returns an extractor that takes the first id any of these finds.
     *
     * @param extractors at least one, asked in this order
     * @return the extractor
     */
    public static EventIdExtractor firstOf(EventIdExtractor... extractors) {
        List<EventIdExtractor> chain = List.of(extractors);
        if (chain.isEmpty()) {
            throw new IllegalArgumentException("A chain needs at least one extractor");
        }
        return record -> {
            for (EventIdExtractor extractor : chain) {
                Optional<EventId> id = extractor.extract(record);
                if (id.isPresent()) {
                    return id;
                }
            }
            return Optional.empty();
        };
    }

    /**
     * Returns an extractor for the id in a header.
     *
     * @param name the header's name
     * @return the extractor
     */
    public static EventIdExtractor header(String name) {
        Objects.requireNonNull(name, "name");
        return record -> {
            byte[] value = value(record, name);
            return value == null ? Optional.empty() : Optional.of(EventId.of(decode(name, value)));
        };
    }

    /**
     * Returns an extractor for the identity of a CloudEvent in Kafka's binary mode: the headers {@code ce_id} and {@code
     * ce_source}.
     *
     * <p>Only both together are unique (CloudEvents 1.0, "id"). An id that is a UUID stands for itself; any other is
     * hashed with its source.
     *
     * @return the extractor
     */
    public static EventIdExtractor cloudEvent() {
        return record -> {
            byte[] value = value(record, "ce_id");
            if (value == null) {
                return Optional.empty();
            }
            EventId id = EventId.of(decode("ce_id", value));
            byte[] source = value(record, "ce_source");
            return Optional.of(id.asUuid().isPresent() || source == null ? id : hash(source, id));
        };
    }

    /** The header's value, null if there is no such header. */
    private static byte @Nullable [] value(ConsumerRecord<byte[], byte[]> record, String name) {
        byte[] found = null;
        for (Header header : record.headers().headers(name)) {
            byte[] value = header.value();
            if (value == null || value.length == 0) {
                throw new IllegalArgumentException("The header " + name + " is empty");
            }
            if (value.length > LONGEST_HEADER) {
                throw new IllegalArgumentException("The header " + name + " has " + value.length
                        + " bytes, which is too long for an event id of at most " + EventId.MAX_BYTES);
            }
            if (found != null && !Arrays.equals(found, value)) {
                throw new IllegalArgumentException("The header " + name + " stands twice with different values");
            }
            found = value;
        }
        return found;
    }

    private static String decode(String name, byte[] value) {
        String text = text(value);
        if (text == null && value.length == UUID_BYTES) {
            ByteBuffer bytes = ByteBuffer.wrap(value);
            return new UUID(bytes.getLong(), bytes.getLong()).toString();
        }
        if (text == null) {
            throw new IllegalArgumentException("The header " + name + " holds neither text nor the 16 bytes of a UUID");
        }
        boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
        return quoted ? unquote(name, text) : text;
    }

    /**
     * The UTF-8 text, or null if it is none or holds control characters. A binary UUID never passes for text: its ninth
     * byte is no ASCII, and would have to follow just the right others.
     */
    private static @Nullable String text(byte[] value) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(value))
                    .toString();
            return text.chars().anyMatch(Character::isISOControl) ? null : text;
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** RFC 8259, section 7. */
    private static String unquote(String name, String text) {
        StringBuilder plain = new StringBuilder(text.length());
        int last = text.length() - 1;
        int position = 1;
        while (position < last) {
            char character = text.charAt(position++);
            if (character != '\\') {
                plain.append(character);
                continue;
            }
            char escape = position < last ? text.charAt(position++) : ' ';
            if (escape == 'u' && position + 4 <= last) {
                plain.append((char) hex(name, text.substring(position, position + 4)));
                position += 4;
            } else if (escape == '"' || escape == '\\' || escape == '/') {
                plain.append(escape);
            } else {
                throw new IllegalArgumentException("The header " + name + " is no valid JSON string");
            }
        }
        return plain.toString();
    }

    private static int hex(String name, String digits) {
        try {
            return Integer.parseUnsignedInt(digits, 16);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("The header " + name + " is no valid JSON string", e);
        }
    }

    /** A UUID of version 8 over both parts, each preceded by its length, so that they cannot run into each other. */
    private static EventId hash(byte[] source, EventId id) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(
                    ByteBuffer.allocate(Integer.BYTES).putInt(source.length).flip());
            digest.update(source);
            ByteBuffer hash = ByteBuffer.wrap(digest.digest(id.value().getBytes(StandardCharsets.UTF_8)));
            long high = (hash.getLong() & 0xffffffffffff0fffL) | 0x0000000000008000L;
            long low = (hash.getLong() & 0x3fffffffffffffffL) | 0x8000000000000000L;
            return EventId.of(new UUID(high, low));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }
}
