package dev.idempotency.operation;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The codecs of an application's results, one per type; given to {@link
 * dev.idempotency.Idempotency.Builder#codecs}.
 *
 * <p>Immutable. There is no codec for "any class": what stands in a record outlives the classes of one deploy, so every
 * type of result is named with its format.
 */
public final class ResultCodecs {
    private static final ResultCodecs DEFAULTS = new ResultCodecs(Map.of(
            String.class,
            ResultCodec.ofString(),
            byte[].class,
            ResultCodec.ofBytes(),
            Void.class,
            ResultCodec.ofVoid()));

    private final Map<Class<?>, ResultCodec<?>> codecs;

    private ResultCodecs(Map<Class<?>, ResultCodec<?>> codecs) {
        this.codecs = codecs;
    }

    /**
     * Returns the codecs of {@code String}, {@code byte[]} and {@code Void}.
     *
     * @return the codecs
     */
    public static ResultCodecs ofDefaults() {
        return DEFAULTS;
    }

    /**
     * Returns these codecs and one more.
     *
     * @param <T> the type of the result
     * @param type its class
     * @param codec its codec
     * @return the codecs
     * @throws IllegalArgumentException if the type has a codec
     */
    public <T> ResultCodecs with(Class<T> type, ResultCodec<T> codec) {
        Objects.requireNonNull(codec, "codec");
        if (codecs.containsKey(type)) {
            throw new IllegalArgumentException(type.getName() + " has a codec already, that of "
                    + codecs.get(type).format() + ": let one codec read both formats, with alsoReading");
        }
        Map<Class<?>, ResultCodec<?>> all = new HashMap<>(codecs);
        all.put(type, codec);
        return new ResultCodecs(Map.copyOf(all));
    }

    /**
     * Returns the codec of a type.
     *
     * @param <T> the type of the result
     * @param type its class, exactly
     * @return the codec
     * @throws IllegalArgumentException if the type has none
     */
    @SuppressWarnings("unchecked") // with() takes a codec only under its own type
    public <T> ResultCodec<T> forType(Class<T> type) {
        ResultCodec<?> codec = codecs.get(type);
        if (codec == null) {
            throw new IllegalArgumentException("There is no codec for results of " + type.getName() + ", only for "
                    + codecs.keySet().stream().map(Class::getName).sorted().collect(Collectors.joining(", "))
                    + ": call Idempotency.builder().codecs(ResultCodecs.ofDefaults().with("
                    + type.getSimpleName() + ".class, codec))");
        }
        return (ResultCodec<T>) codec;
    }
}
