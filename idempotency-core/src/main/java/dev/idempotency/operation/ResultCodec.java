package dev.idempotency.operation;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Turns the result of an operation into the bytes of its record and back; users make one per type of result.
 *
 * <p>The format's name stands in the record beside the bytes, so that a later version of the application knows what it
 * reads. Whoever changes the bytes gives the new ones a new name and keeps reading the old ones with {@link
 * #alsoReading} for as long as records are kept:
 *
 * <pre>{@code
 * ResultCodec.of("receipt-2", Receipts::toJson, Receipts::fromJson)
 *         .alsoReading("receipt-1", Receipts::fromFirstJson)
 * }</pre>
 *
 * <p>A record in a format that is not read, or that the decoder refuses, is reported as {@link
 * TypedOutcome.Unreadable}; its work never runs again (DESIGN rule T4). This is also where bytes can be compressed or
 * encrypted. Immutable; safe for use by many threads if its functions are.
 *
 * @param <T> the type of the result; null never reaches the functions, the record tells it apart by itself
 */
public final class ResultCodec<T extends @Nullable Object> {
    /** The greatest size of an encoded result, in bytes. */
    public static final int MAX_SIZE = 16 * 1024 * 1024;

    private static final Pattern FORMAT = Pattern.compile("[!-~]{1,64}");
    private static final String VOID_FORMAT = "void";
    private static final ResultCodec<String> STRING =
            of("string-1", ResultCodec::encodeStrictly, ResultCodec::decodeStrictly);
    private static final ResultCodec<byte[]> BYTES = of("bytes-1", byte[]::clone, byte[]::clone);
    private static final ResultCodec<@Nullable Void> VOID =
            new ResultCodec<>(VOID_FORMAT, ResultCodec::noValue, Map.<String, Decoder<@Nullable Void>>of());

    private final String format;
    private final Encoder<T> encoder;
    private final Map<String, Decoder<T>> decoders;

    private ResultCodec(String format, Encoder<T> encoder, Map<String, Decoder<T>> decoders) {
        this.format = format;
        this.encoder = encoder;
        this.decoders = decoders;
    }

    /**
     * Writes a result as bytes.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    public interface Encoder<T extends @Nullable Object> {
        /**
         * Encodes.
         *
         * @param value the result, never null
         * @return its bytes, given away to the library
         * @throws IOException if it cannot be written; a runtime exception means the same
         */
        byte[] encode(T value) throws IOException;
    }

    /**
     * Reads a result from bytes.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    public interface Decoder<T extends @Nullable Object> {
        /**
         * Decodes.
         *
         * @param bytes what an encoder wrote, given away to the decoder
         * @return the result, never null
         * @throws IOException if it cannot be read; a runtime exception means the same
         */
        T decode(byte[] bytes) throws IOException;
    }

    /**
     * Returns a codec that writes and reads one format.
     *
     * @param <T> the type of the result
     * @param format the format's stable name and version, for instance {@code receipt-1}: 1 to 64 visible ASCII
     *     characters; never the name of a class, which changes when somebody moves it
     * @param encoder writes it
     * @param decoder reads it
     * @return the codec
     * @throws IllegalArgumentException if the name is none, or {@code void}
     */
    public static <T extends @Nullable Object> ResultCodec<T> of(
            String format, Encoder<T> encoder, Decoder<T> decoder) {
        Objects.requireNonNull(encoder, "encoder");
        Objects.requireNonNull(decoder, "decoder");
        return new ResultCodec<>(checkedFormat(format), encoder, Map.of(format, decoder));
    }

    /**
     * Returns the codec of texts: UTF-8, format {@code string-1}. A text with half of a surrogate pair is refused.
     *
     * @return the codec
     */
    public static ResultCodec<String> ofString() {
        return STRING;
    }

    /**
     * Returns the codec of bytes, format {@code bytes-1}; they are copied in and out.
     *
     * @return the codec
     */
    public static ResultCodec<byte[]> ofBytes() {
        return BYTES;
    }

    /**
     * Returns the codec of work without a result, format {@code void}.
     *
     * @return the codec
     */
    public static ResultCodec<@Nullable Void> ofVoid() {
        return VOID;
    }

    /**
     * Returns this codec as one that reads another format too, which it does not write.
     *
     * @param otherFormat the name of the other format
     * @param decoder reads it
     * @return the codec
     * @throws IllegalArgumentException if the name is none, or this codec reads it already
     */
    public ResultCodec<T> alsoReading(String otherFormat, Decoder<T> decoder) {
        Objects.requireNonNull(decoder, "decoder");
        if (reads(checkedFormat(otherFormat))) {
            throw new IllegalArgumentException("This codec reads the format " + otherFormat
                    + " already: give every version of the bytes a name of its own");
        }
        Map<String, Decoder<T>> all = new LinkedHashMap<>(decoders);
        all.put(otherFormat, decoder);
        return new ResultCodec<>(format, encoder, Map.copyOf(all));
    }

    /**
     * Returns the format that this codec writes.
     *
     * @return its name
     */
    public String format() {
        return format;
    }

    /**
     * Tells whether this codec reads a format.
     *
     * @param name the format's name
     * @return true if it wrote it, or {@link #alsoReading} named it
     */
    public boolean reads(String name) {
        return format.equals(name) || decoders.containsKey(name);
    }

    /**
     * Writes a result.
     *
     * @param value the result, not null
     * @return its bytes
     * @throws IOException if the encoder refuses it, or it has more than {@value #MAX_SIZE} bytes
     */
    public byte[] encode(T value) throws IOException {
        byte[] bytes = encoder.encode(value);
        if (bytes.length > MAX_SIZE) {
            throw new IOException("The result has " + bytes.length + " bytes as " + format + ", and at most " + MAX_SIZE
                    + " are kept: return a reference to it instead");
        }
        return bytes;
    }

    /**
     * Reads a result.
     *
     * @param writtenFormat the format that stands in the record
     * @param bytes the record's bytes
     * @return the result
     * @throws IOException if this codec does not read the format, or the decoder refuses the bytes
     */
    public T decode(String writtenFormat, byte[] bytes) throws IOException {
        Decoder<T> decoder = decoders.get(writtenFormat);
        if (decoder == null) {
            throw new IOException(
                    "The codec of " + format + " reads " + Set.copyOf(decoders.keySet()) + " and not " + writtenFormat);
        }
        T value = decoder.decode(bytes);
        if (value == null) {
            throw new IOException("The decoder of " + writtenFormat + " returned null, which it never may");
        }
        return value;
    }

    private static String checkedFormat(String name) {
        if (!FORMAT.matcher(name).matches() || name.equals(VOID_FORMAT)) {
            throw new IllegalArgumentException("A format's name has 1 to 64 visible ASCII characters and is not \""
                    + VOID_FORMAT + "\", but this one is \"" + name + "\"");
        }
        return name;
    }

    /** Not {@code getBytes}, which writes a question mark for what it cannot write: a repeat would get another text. */
    private static byte[] encodeStrictly(String text) throws CharacterCodingException {
        ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static String decodeStrictly(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
    }

    private static byte[] noValue(@Nullable Void value) {
        return new byte[0];
    }
}
