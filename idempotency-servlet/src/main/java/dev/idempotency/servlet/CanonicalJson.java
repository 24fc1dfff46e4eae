package dev.idempotency.servlet;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Hashes what a JSON document says and not how it is written: white space, the order of members, escapes and the
 * notation of numbers make no difference. Safe for use by many threads.
 *
 * <p>The document is read as a stream. No number is ever computed, so what is short to write is short to read; each
 * object and array that has ended is held as 32 bytes.
 */
final class CanonicalJson {
    /** Longer ones are refused; more than anybody computes with, and short enough for the arithmetic on an exponent. */
    static final int MAX_NUMBER_LENGTH = 1_000;

    private static final int DIGEST_LENGTH = 32;

    private final JsonFactory factory;
    private final int maxDepth;
    private final int maxBytes;

    CanonicalJson(int maxDepth, int maxBytes) {
        this.maxDepth = maxDepth;
        this.maxBytes = maxBytes;
        // The tables of names are shared by all requests, and strangers choose the names.
        this.factory = JsonFactory.builder()
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(maxDepth)
                        .maxNumberLength(MAX_NUMBER_LENGTH)
                        .maxStringLength(maxBytes)
                        .maxNameLength(maxBytes)
                        .build())
                .build();
    }

    /**
     * Hashes the document; a body without a byte is a document of its own.
     *
     * @throws RefusedBodyException if the body is no JSON in UTF-8, names a member twice, or exceeds a bound
     * @throws IOException if the body cannot be read
     */
    byte[] digest(InputStream body) throws IOException {
        // Not the library's own decoding, which puts the same replacement for all that is malformed.
        Reader reader = new InputStreamReader(
                new BoundedInput(body),
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT));
        try (JsonParser parser = factory.createParser(reader)) {
            JsonToken first = parser.nextToken();
            byte[] document = first == null ? new byte[0] : value(parser, first);
            if (first != null && parser.nextToken() != null) {
                throw malformed("it goes on after its end", parser);
            }
            return document;
        } catch (StreamConstraintsException e) {
            throw new RefusedBodyException(
                    ProblemCode.MALFORMED_BODY,
                    "The body is nested deeper than " + maxDepth + " levels, or holds a number of more than "
                            + MAX_NUMBER_LENGTH + " characters",
                    e);
        } catch (JsonProcessingException e) {
            throw new RefusedBodyException(ProblemCode.MALFORMED_BODY, "The body is no JSON", e);
        } catch (CharacterCodingException e) {
            throw new RefusedBodyException(ProblemCode.MALFORMED_BODY, "The body is not in UTF-8", e);
        }
    }

    private byte[] value(JsonParser parser, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> scalar('s', parser.getText());
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> scalar('n', number(parser.getText()));
            case VALUE_TRUE -> scalar('b', "true");
            case VALUE_FALSE -> scalar('b', "false");
            case VALUE_NULL -> scalar('0', "");
            default -> throw malformed("a value is missing", parser);
        };
    }

    private byte[] array(JsonParser parser) throws IOException {
        MessageDigest digest = sha256();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            update(digest, value(parser, token));
        }
        return tagged('a', digest.digest());
    }

    private byte[] object(JsonParser parser) throws IOException {
        Map<String, byte[]> members = new TreeMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            if (members.putIfAbsent(name, value(parser, parser.nextToken())) != null) {
                throw malformed("an object names a member twice", parser);
            }
        }
        MessageDigest digest = sha256();
        members.forEach((name, value) -> {
            update(digest, units(name));
            update(digest, value);
        });
        return tagged('o', digest.digest());
    }

    /**
     * The number's value, exactly and in one notation: digits without a zero at either end, and a power of ten. {@code 1},
     * {@code 1.0} and {@code 1e0} are one number, and so are {@code 0} and {@code -0}.
     */
    static String number(String text) {
        boolean negative = text.startsWith("-");
        int end = Math.max(text.indexOf('e'), text.indexOf('E'));
        String mantissa = text.substring(negative ? 1 : 0, end < 0 ? text.length() : end);
        int point = mantissa.indexOf('.');
        String all = point < 0 ? mantissa : mantissa.substring(0, point) + mantissa.substring(point + 1);
        int from = 0;
        while (from < all.length() && all.charAt(from) == '0') {
            from++;
        }
        if (from == all.length()) {
            return "0";
        }
        int to = all.length();
        while (all.charAt(to - 1) == '0') {
            to--;
        }
        int shift = all.length() - to - (point < 0 ? 0 : mantissa.length() - point - 1);
        BigInteger written = end < 0 ? BigInteger.ZERO : new BigInteger(text.substring(end + 1));
        return (negative ? "-" : "") + all.substring(from, to) + "e" + written.add(BigInteger.valueOf(shift));
    }

    private static byte[] scalar(char tag, String text) {
        byte[] units = units(text);
        return units.length > DIGEST_LENGTH
                ? tagged(Character.toUpperCase(tag), sha256().digest(units))
                : tagged(tag, units);
    }

    /** As they are in Java: an encoding would put the same question mark for every half of a surrogate pair. */
    private static byte[] units(String text) {
        ByteBuffer units = ByteBuffer.allocate(text.length() * Character.BYTES);
        units.asCharBuffer().put(text);
        return units.array();
    }

    private static byte[] tagged(char tag, byte[] content) {
        return ByteBuffer.allocate(1 + content.length)
                .put((byte) tag)
                .put(content)
                .array();
    }

    private static void update(MessageDigest digest, byte[] part) {
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).flip());
        digest.update(part);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java runtime has no SHA-256, which every runtime must have", e);
        }
    }

    private static RefusedBodyException malformed(String what, JsonParser parser) {
        return new RefusedBodyException(
                ProblemCode.MALFORMED_BODY,
                "The body is JSON that cannot be compared: " + what + ", before character "
                        + parser.currentLocation().getCharOffset(),
                null);
    }

    /** Counts what is read, whatever was announced. */
    private final class BoundedInput extends FilterInputStream {
        private int left = maxBytes;

        BoundedInput(InputStream body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            int next = super.read();
            return next < 0 ? next : counted(next, 1);
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            int read = super.read(buffer, offset, length);
            return read < 0 ? read : counted(read, read);
        }

        private int counted(int result, int count) {
            left -= count;
            if (left < 0) {
                throw new RefusedBodyException(
                        ProblemCode.BODY_TOO_LARGE, "A body of JSON has at most " + maxBytes + " bytes here", null);
            }
            return result;
        }
    }
}
