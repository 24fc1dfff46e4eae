package dev.idempotency;

import dev.idempotency.spi.AnswerEncoding;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How records are handed to a store and read from it: the key as it is or as its hash, the answer as it is, compressed, or
 * encoded by the application; users give it to {@link Idempotency.Builder#records}.
 *
 * <p>Each answer says how it was written, so compression and encoding may be changed at any time, and older records are
 * still read: first every process must know how to read the new form ({@link #alsoReading}), then one may write it. How keys
 * are kept may not be changed while there are records. Immutable and safe for use by many threads.
 */
public final class RecordFormat {
    private static final Logger log = LoggerFactory.getLogger(RecordFormat.class);

    private static final int COMPRESSED_FROM = 1024;
    private static final int LONGEST_ANSWER = 32 * 1024 * 1024;
    private static final RecordFormat DEFAULTS =
            new RecordFormat(false, Integer.MAX_VALUE, null, Map.of(Deflation.NAME, new Deflation()), LONGEST_ANSWER);

    private final boolean hashedKeys;
    private final int compressedFrom;
    private final @Nullable AnswerEncoding encoding;
    private final Map<String, AnswerEncoding> readable;
    private final int longestAnswer;

    private RecordFormat(
            boolean hashedKeys,
            int compressedFrom,
            @Nullable AnswerEncoding encoding,
            Map<String, AnswerEncoding> readable,
            int longestAnswer) {
        this.hashedKeys = hashedKeys;
        this.compressedFrom = compressedFrom;
        this.encoding = encoding;
        this.readable = readable;
        this.longestAnswer = longestAnswer;
    }

    /**
     * Returns the format that leaves keys and answers as they are, and keeps answers of up to 32 MiB.
     *
     * @return the format
     */
    public static RecordFormat ofDefaults() {
        return DEFAULTS;
    }

    /**
     * Returns this format with keys stored as their SHA-256, made together with their scope; to be decided before the first
     * record is written, because a record under the key itself is not found under its hash, and its repeat runs again.
     *
     * <p>Processes that differ in it, as in a rolling deploy, do not even see each other's running work: they lock different
     * rows. There are two safe ways to turn it on or off later: stop everything that writes, and start it again after longer
     * than any client repeats a request; or leave the operations that there are as they are, and give new ones (new paths or
     * names) an engine with tables of its own, in another schema.
     *
     * @return the format
     */
    public RecordFormat withHashedKeys() {
        return new RecordFormat(true, compressedFrom, encoding, readable, longestAnswer);
    }

    /**
     * Returns this format with answers from 1 KiB on compressed, where that makes them smaller.
     *
     * @return the format
     */
    public RecordFormat withCompression() {
        return withCompression(COMPRESSED_FROM);
    }

    /**
     * Returns this format with larger answers compressed, where that makes them smaller. Every version that knows this
     * method reads them.
     *
     * @param fromBytes the smallest answer to compress, metadata and body; 0 or more
     * @return the format
     * @throws IllegalArgumentException if the number is negative
     */
    public RecordFormat withCompression(int fromBytes) {
        if (fromBytes < 0) {
            throw new IllegalArgumentException("fromBytes must be 0 or more, but is " + fromBytes);
        }
        return new RecordFormat(hashedKeys, fromBytes, encoding, readable, longestAnswer);
    }

    /**
     * Returns this format with answers encoded, after their compression if there is one.
     *
     * @param answerEncoding writes the answers, in the place of one that was set before, and reads them
     * @return the format
     * @throws IllegalArgumentException if its name is none or taken
     */
    public RecordFormat withEncoding(AnswerEncoding answerEncoding) {
        return new RecordFormat(
                hashedKeys, compressedFrom, answerEncoding, readableWith(answerEncoding), longestAnswer);
    }

    /**
     * Returns this format with another encoding that is read and not written: one that was used before, or will be.
     *
     * @param answerEncoding reads the answers
     * @return the format
     * @throws IllegalArgumentException if its name is none or taken
     */
    public RecordFormat alsoReading(AnswerEncoding answerEncoding) {
        return new RecordFormat(hashedKeys, compressedFrom, encoding, readableWith(answerEncoding), longestAnswer);
    }

    /**
     * Returns this format with another bound on answers. A longer one is recorded as over and not replayable, and what is
     * stored encoded is never decoded to more.
     *
     * @param bytes metadata and body before compression and encoding; 1 KiB to 1 GiB
     * @return the format
     * @throws IllegalArgumentException if the number is out of its range
     */
    public RecordFormat withLongestAnswer(int bytes) {
        if (bytes < 1024 || bytes > 1 << 30) {
            throw new IllegalArgumentException("The longest answer must be between 1 KiB and 1 GiB, but is " + bytes);
        }
        return new RecordFormat(hashedKeys, compressedFrom, encoding, readable, bytes);
    }

    private Map<String, AnswerEncoding> readableWith(AnswerEncoding added) {
        String name = added.name();
        if (name.isEmpty() || name.length() > 32 || !name.chars().allMatch(RecordFormat::mayStandInAName)) {
            throw new IllegalArgumentException(
                    "An encoding's name has 1 to 32 characters of a-z, 0-9 and -, but is \"" + name + "\"");
        }
        AnswerEncoding known = readable.get(name);
        if (known != null && !known.equals(added)) {
            throw new IllegalArgumentException("Two encodings are named \"" + name
                    + "\": by the name the decoder of a stored answer is found, so give the newer one another");
        }
        Map<String, AnswerEncoding> all = new HashMap<>(readable);
        all.put(name, added);
        return Map.copyOf(all);
    }

    private static boolean mayStandInAName(int character) {
        return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') || character == '-';
    }

    /** The id under which the store keeps the record. */
    RecordId stored(RecordId id) {
        if (!hashedKeys) {
            return id;
        }
        // With the scope, so that nobody can see from the table that two callers use the same key.
        byte[] hash = Digests.sha256(
                "key-1", HexFormat.of().formatHex(id.scope().digest()), id.key().value());
        return new RecordId(id.scope(), IdempotencyKey.of(HexFormat.of().formatHex(hash)));
    }

    /**
     * The result as the store is to keep it.
     *
     * @throws StoreUnavailableException if the encoding says so
     * @throws StoreException if the encoding failed otherwise
     */
    RecordedResult write(RecordId id, RecordedResult result) {
        if (!(result instanceof RecordedResult.Replayable answer)) {
            return result;
        }
        long length = (long) answer.metadata().length + answer.body().length;
        if (length > longestAnswer) {
            return new RecordedResult.NotReplayable(
                    answer.status(), "the answer has " + length + " bytes, more than are kept");
        }
        boolean compressing = length >= compressedFrom;
        if (!compressing && encoding == null && !Envelope.isMarked(answer.metadata())) {
            return answer;
        }
        return enveloped(id, answer, compressing);
    }

    private RecordedResult enveloped(RecordId id, RecordedResult.Replayable answer, boolean compressing) {
        byte[] packed = Envelope.pack(answer);
        byte[] bytes = packed;
        List<String> encodings = new ArrayList<>(2);
        if (compressing) {
            byte[] compressed = new Deflation().encode(id, packed);
            if (compressed.length < packed.length) {
                bytes = compressed;
                encodings.add(Deflation.NAME);
            }
        }
        if (encoding != null) {
            bytes = encode(encoding, id, bytes);
            encodings.add(encoding.name());
        }
        if (encodings.isEmpty() && !Envelope.isMarked(answer.metadata())) {
            return answer;
        }
        return new RecordedResult.Replayable(answer.status(), new Envelope(encodings, packed.length).toBytes(), bytes);
    }

    private static byte[] encode(AnswerEncoding encoding, RecordId id, byte[] bytes) {
        try {
            return Objects.requireNonNull(encoding.encode(id, bytes), "the encoded answer");
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException | LinkageError e) {
            // A library of ciphers may be incomplete.
            throw new StoreException(
                    "The answer could not be encoded by " + encoding.name() + ", so it was not stored", e);
        }
    }

    /**
     * The result as the adapter gave it. One that cannot be read is a reason not to replay, and none to run again (rule T4).
     *
     * @throws StoreUnavailableException if the encoding says so
     */
    RecordedResult read(RecordId id, RecordedResult stored) {
        if (!(stored instanceof RecordedResult.Replayable answer) || !Envelope.isMarked(answer.metadata())) {
            return stored;
        }
        try {
            return opened(id, answer);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            log.warn(
                    "The stored answer of {} cannot be read ({}); its operation is over and does not run again",
                    id,
                    e.toString());
            log.debug("The exception", e);
            return new RecordedResult.NotReplayable(answer.status(), "the stored answer cannot be read");
        }
    }

    private RecordedResult opened(RecordId id, RecordedResult.Replayable stored) throws IOException {
        Envelope envelope = Envelope.of(stored.metadata());
        if (envelope.plainLength() < 0 || envelope.plainLength() > (long) longestAnswer + Integer.BYTES) {
            throw new IOException("The answer is to have " + envelope.plainLength() + " bytes, and at most "
                    + longestAnswer + " are read: raise withLongestAnswer");
        }
        byte[] bytes = stored.body();
        for (int i = envelope.encodings().size() - 1; i >= 0; i--) {
            // Compression is left out where it makes nothing smaller, so no step between was longer than the answer.
            bytes = decoder(envelope.encodings().get(i)).decode(id, bytes, envelope.plainLength());
        }
        if (bytes.length != envelope.plainLength()) {
            throw new IOException("The answer has " + bytes.length + " bytes in place of " + envelope.plainLength());
        }
        return Envelope.unpack(stored.status(), bytes);
    }

    private AnswerEncoding decoder(String name) throws IOException {
        AnswerEncoding decoder = readable.get(name);
        if (decoder == null) {
            throw new IOException("The answer was encoded by \"" + name + "\", which is not known here: add"
                    + " alsoReading(…) to RecordFormat");
        }
        return decoder;
    }
}
