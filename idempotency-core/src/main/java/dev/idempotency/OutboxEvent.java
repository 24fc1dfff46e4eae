package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction wants published once it has committed; applications build it and append it to the outbox.
 *
 * <p>It carries bytes, headers and names that the application chose, never the name of a class: renaming one must not
 * orphan rows. Immutable and safe for use by many threads, with one exception made for speed: the arrays are copied
 * neither in nor out, whoever builds the event gives them away.
 *
 * <pre>{@code
 * outbox.append(transaction, OutboxEvent.to("orders").key(orderId).type("OrderPlaced").payload(json).build());
 * }</pre>
 */
public final class OutboxEvent {
    /** The header that carries the event's id, as the text of a UUID; consumers deduplicate by it and by nothing else. */
    public static final String EVENT_ID_HEADER = "eventId";

    /** The header that carries {@link #type()}. */
    public static final String EVENT_TYPE_HEADER = "eventType";

    /** The header that carries {@link #tenant()}. */
    public static final String TENANT_HEADER = "tenantId";

    /** The header that names the outbox the event came from; for people, not for deduplication. */
    public static final String SOURCE_HEADER = "outboxSource";

    /**
     * The header that carries the row's sequence number in its outbox; for people, not for deduplication: writers may
     * commit in another order.
     */
    public static final String SEQUENCE_HEADER = "outboxSequence";

    /** How many buckets the ordering keys are spread over: fixed for ever, because rows keep their bucket. */
    public static final int BUCKETS = 256;

    /** The longest delay. */
    private static final Duration LONGEST_DELAY = Duration.ofDays(366);

    /** Kafka's rule, which is also the strictest of the usual brokers; Kafka further refuses "." and "..". */
    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

    private static final Set<String> RESERVED_HEADERS =
            Set.of(EVENT_ID_HEADER, EVENT_TYPE_HEADER, TENANT_HEADER, SOURCE_HEADER, SEQUENCE_HEADER);

    private final @Nullable UUID eventId;
    private final String topic;
    private final byte @Nullable [] key;
    private final @Nullable Integer partition;
    private final Map<String, String> headers;
    private final byte @Nullable [] payload;
    private final @Nullable String orderingKey;
    private final Duration delay;
    private final @Nullable String tenant;
    private final @Nullable String type;

    private OutboxEvent(Builder builder, @Nullable UUID eventId) {
        this.eventId = eventId;
        this.topic = builder.topic;
        this.key = builder.key;
        this.partition = builder.partition;
        this.headers = Collections.unmodifiableMap(new LinkedHashMap<>(builder.headers));
        this.payload = builder.payload;
        this.orderingKey = builder.orderingKey;
        this.delay = builder.delay;
        this.tenant = builder.tenant;
        this.type = builder.type;
    }

    private OutboxEvent(OutboxEvent other, UUID eventId) {
        this.eventId = eventId;
        this.topic = other.topic;
        this.key = other.key;
        this.partition = other.partition;
        this.headers = other.headers;
        this.payload = other.payload;
        this.orderingKey = other.orderingKey;
        this.delay = other.delay;
        this.tenant = other.tenant;
        this.type = other.type;
    }

    /**
     * Begins an event for this topic.
     *
     * @param topic where to publish it: 1 to 249 of the characters {@code a-z A-Z 0-9 . _ -}, not {@code .} or {@code
     *     ..}
     * @return a builder without key, payload and headers
     * @throws IllegalArgumentException if a broker would refuse the name
     */
    public static Builder to(String topic) {
        return new Builder(topic);
    }

    /**
     * Returns the identity that every delivery of the event carries.
     *
     * @return the id, or nothing as long as none was given and the event has not been appended
     */
    public Optional<UUID> eventId() {
        return Optional.ofNullable(eventId);
    }

    /**
     * Returns this event under the given identity.
     *
     * @param id the event's id
     * @return an event that differs in its id only
     */
    public OutboxEvent withEventId(UUID id) {
        return new OutboxEvent(this, Objects.requireNonNull(id, "id"));
    }

    /**
     * Returns this event with further headers, behind its own; those it has already keep their values.
     *
     * @param more names and values, fit for {@link Builder#header}
     * @return an event that differs in its headers only
     * @throws IllegalArgumentException if a name or a value is unfit, as in {@link Builder#header}
     */
    public OutboxEvent withHeaders(Map<String, String> more) {
        Builder builder = new Builder(topic);
        builder.key = key;
        builder.partition = partition;
        builder.payload = payload;
        builder.orderingKey = orderingKey;
        builder.delay = delay;
        builder.tenant = tenant;
        builder.type = type;
        builder.headers.putAll(headers);
        more.forEach((name, value) -> {
            if (!headers.containsKey(name)) {
                builder.header(name, value);
            }
        });
        return new OutboxEvent(builder, eventId);
    }

    /**
     * Returns where to publish the event.
     *
     * @return the topic's name
     */
    public String topic() {
        return topic;
    }

    /**
     * Returns the record's key.
     *
     * @return the key's bytes, not copied, or nothing
     */
    public Optional<byte[]> key() {
        return Optional.ofNullable(key);
    }

    /**
     * Returns the partition that the application chose itself.
     *
     * @return the partition, or nothing to let the broker's client choose by key
     */
    public OptionalInt partition() {
        return partition == null ? OptionalInt.empty() : OptionalInt.of(partition);
    }

    /**
     * Returns the application's own headers, in the order in which they were added.
     *
     * @return the headers, unmodifiable
     */
    public Map<String, String> headers() {
        return headers;
    }

    /**
     * Returns the record's value.
     *
     * @return the payload's bytes, not copied, or nothing: a tombstone on a compacted topic
     */
    public Optional<byte[]> payload() {
        return Optional.ofNullable(payload);
    }

    /**
     * Returns the name under which events keep their order, where it is not the key.
     *
     * @return the ordering key, or nothing: then the key decides
     */
    public Optional<String> orderingKey() {
        return Optional.ofNullable(orderingKey);
    }

    /**
     * Returns how long the event waits before it may be published, counted by the database's clock from the append.
     *
     * @return zero for at once; always zero in an event read back from the outbox
     */
    public Duration delay() {
        return delay;
    }

    /**
     * Returns whose event it is.
     *
     * @return the tenant, or nothing
     */
    public Optional<String> tenant() {
        return Optional.ofNullable(tenant);
    }

    /**
     * Returns what kind of event it is.
     *
     * @return the type's name, or nothing
     */
    public Optional<String> type() {
        return Optional.ofNullable(type);
    }

    /**
     * Tells whether the event has a place in an order: an ordering key or a key.
     *
     * @return false if nothing says which events must stay in order with it
     */
    public boolean isOrdered() {
        return orderingKey != null || key != null;
    }

    /**
     * Returns the bucket of the ordering key, else of the key, else of the id; events of one bucket are relayed by one
     * instance at a time.
     *
     * <p>The function never changes: rows written by one version are leased by another.
     *
     * @return 0 to {@link #BUCKETS} - 1
     * @throws IllegalStateException if the event has neither ordering key, key nor id
     */
    public int bucket() {
        if (orderingKey != null) {
            return bucket(orderingKey.getBytes(StandardCharsets.UTF_8));
        }
        if (key != null) {
            return bucket(key);
        }
        if (eventId == null) {
            throw new IllegalStateException("An event without ordering key and key has no bucket before it has an id");
        }
        return bucket(ByteBuffer.allocate(16)
                .putLong(eventId.getMostSignificantBits())
                .putLong(eventId.getLeastSignificantBits())
                .array());
    }

    /**
     * Returns how large the event is: the bytes of key, payload and headers, as a broker counts them to within 200
     * bytes.
     *
     * @return the size in bytes
     */
    public long sizeBytes() {
        long size = (key == null ? 0 : key.length) + (long) (payload == null ? 0 : payload.length);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            size += header.getKey().length() + header.getValue().getBytes(StandardCharsets.UTF_8).length + 4L;
        }
        return size;
    }

    /** Returns a text for logs: id, topic and size, never key, headers or payload. */
    @Override
    public String toString() {
        return "OutboxEvent[eventId=" + eventId + ", topic=" + topic + ", " + sizeBytes() + " bytes]";
    }

    /** FNV-1a over the bytes, then the finalizer of MurmurHash3, because FNV mixes its low bits badly. */
    private static int bucket(byte[] bytes) {
        int hash = 0x811c9dc5;
        for (byte next : bytes) {
            hash = (hash ^ (next & 0xff)) * 0x01000193;
        }
        hash = (hash ^ (hash >>> 16)) * 0x85ebca6b;
        hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35;
        return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
    }

    /** Collects the parts of an event; made by {@link OutboxEvent#to}, used by one thread. */
    public static final class Builder {
        private final String topic;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private @Nullable UUID eventId;
        private byte @Nullable [] key;
        private @Nullable Integer partition;
        private byte @Nullable [] payload;
        private @Nullable String orderingKey;
        private Duration delay = Duration.ZERO;
        private @Nullable String tenant;
        private @Nullable String type;

        private Builder(String topic) {
            Objects.requireNonNull(topic, "topic");
            if (!TOPIC.matcher(topic).matches() || ".".equals(topic) || "..".equals(topic)) {
                throw new IllegalArgumentException("A topic has 1 to 249 of the characters a-z A-Z 0-9 . _ - and is not"
                        + " \".\" or \"..\": a broker would refuse this one of " + topic.length() + " characters");
            }
            this.topic = topic;
        }

        /**
         * Gives the event its identity; by default the outbox draws a time-ordered UUID.
         *
         * <p>Give one where the event must be scheduled once although its transaction may be repeated by code that does
         * not know whether the first attempt has committed.
         *
         * @param id the event's id, unique among all events
         * @return this builder
         */
        public Builder eventId(UUID id) {
            this.eventId = Objects.requireNonNull(id, "id");
            return this;
        }

        /**
         * Sets the record's key; none by default.
         *
         * @param bytes the key, given away
         * @return this builder
         */
        public Builder key(byte[] bytes) {
            this.key = Objects.requireNonNull(bytes, "key");
            return this;
        }

        /**
         * Sets the record's key as UTF-8.
         *
         * @param text the key
         * @return this builder
         * @throws IllegalArgumentException if the text holds half of a surrogate pair
         */
        public Builder key(String text) {
            return key(utf8("key", text));
        }

        /**
         * Sends the record to this partition instead of the one its key leads to.
         *
         * @param number the partition, not negative
         * @return this builder
         * @throws IllegalArgumentException if the number is negative
         */
        public Builder partition(int number) {
            if (number < 0) {
                throw new IllegalArgumentException("A partition is not negative, but this one is " + number);
            }
            this.partition = number;
            return this;
        }

        /**
         * Adds a header, or replaces the one of the same name.
         *
         * @param name 1 to 255 characters without control characters, none of the names this library uses
         * @param value text, sent as UTF-8
         * @return this builder
         * @throws IllegalArgumentException if the name is unfit or reserved, or the value is no text: half of a
         *     surrogate pair
         */
        public Builder header(String name, String value) {
            checkText("header name", name, 255);
            if (RESERVED_HEADERS.contains(name)) {
                throw new IllegalArgumentException("The header " + name + " is written by the outbox itself: choose"
                        + " another name, or set the part of the event that it carries");
            }
            headers.put(name, checkedText("header " + name, value));
            return this;
        }

        /**
         * Sets the record's value; without one the record is a tombstone.
         *
         * @param bytes the payload, given away
         * @return this builder
         */
        public Builder payload(byte[] bytes) {
            this.payload = Objects.requireNonNull(bytes, "payload");
            return this;
        }

        /**
         * Sets the record's value as UTF-8.
         *
         * @param text the payload
         * @return this builder
         * @throws IllegalArgumentException if the text holds half of a surrogate pair
         */
        public Builder payload(String text) {
            return payload(utf8("payload", text));
        }

        /**
         * Names what must stay in order, where it is not the key.
         *
         * <p>It takes effect with a relay that keeps order. A broker keeps the order of events that go to one partition:
         * events of one ordering key need one key or one partition.
         *
         * @param text 1 to 255 characters without control characters
         * @return this builder
         * @throws IllegalArgumentException if it is longer, blank or holds a control character
         */
        public Builder orderingKey(String text) {
            this.orderingKey = checkText("ordering key", text, 255);
            return this;
        }

        /**
         * Holds the event back for a while after its append; zero by default.
         *
         * <p>Under a relay that keeps order, later events of the same ordering key wait behind it.
         *
         * @param duration how long, by the database's clock; 0 to 366 days, rounded up to milliseconds
         * @return this builder
         * @throws IllegalArgumentException if it is negative or longer
         */
        public Builder delay(Duration duration) {
            if (duration.isNegative() || duration.compareTo(LONGEST_DELAY) > 0) {
                throw new IllegalArgumentException("The delay must be between 0 and 366 days, but is " + duration);
            }
            this.delay = duration;
            return this;
        }

        /**
         * Says whose event it is; sent as the header {@value OutboxEvent#TENANT_HEADER}.
         *
         * @param name 1 to 64 characters without control characters
         * @return this builder
         * @throws IllegalArgumentException if it is longer, blank or holds a control character
         */
        public Builder tenant(String name) {
            this.tenant = checkText("tenant", name, 64);
            return this;
        }

        /**
         * Says what kind of event it is; sent as the header {@value OutboxEvent#EVENT_TYPE_HEADER}.
         *
         * @param name 1 to 255 characters without control characters
         * @return this builder
         * @throws IllegalArgumentException if it is longer, blank or holds a control character
         */
        public Builder type(String name) {
            this.type = checkText("type", name, 255);
            return this;
        }

        /**
         * Returns the event.
         *
         * @return an event; the builder may be used further
         */
        public OutboxEvent build() {
            return new OutboxEvent(this, eventId);
        }

        private static String checkText(String what, String text, int most) {
            Objects.requireNonNull(text, what);
            if (text.isBlank() || text.length() > most || text.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("A " + what + " has 1 to " + most + " characters, is not blank and"
                        + " holds no control characters, but this one has " + text.length() + " characters");
            }
            return checkedText(what, text);
        }

        private static String checkedText(String what, String text) {
            utf8(what, text);
            return text;
        }

        private static byte[] utf8(String what, String text) {
            Objects.requireNonNull(text, what);
            try {
                ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
                byte[] copy = new byte[bytes.remaining()];
                bytes.get(copy);
                return copy;
            } catch (CharacterCodingException e) {
                throw new IllegalArgumentException(
                        "The " + what + " is no text: it holds half of a surrogate pair, which UTF-8 cannot carry", e);
            }
        }
    }
}
