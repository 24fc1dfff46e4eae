package dev.idempotency;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in the place of an answer's metadata when the answer is stored encoded: by which encodings, in the order of
 * their writing, and how many bytes it had before them.
 *
 * <p>It begins with a byte with which no adapter's metadata begin without being enveloped themselves, so both are told apart.
 */
record Envelope(List<String> encodings, int plainLength) {
    private static final byte MARK = (byte) 0xff;
    private static final byte LAYOUT = 1;

    static boolean isMarked(byte[] metadata) {
        return metadata.length > 0 && metadata[0] == MARK;
    }

    /** One piece of what the adapter gave. */
    static byte[] pack(RecordedResult.Replayable answer) {
        byte[] metadata = answer.metadata();
        byte[] body = answer.body();
        return ByteBuffer.allocate(Math.addExact(Math.addExact(Integer.BYTES, metadata.length), body.length))
                .putInt(metadata.length)
                .put(metadata)
                .put(body)
                .array();
    }

    static RecordedResult.Replayable unpack(int status, byte[] packed) throws IOException {
        if (packed.length < Integer.BYTES) {
            throw new EOFException("The answer has only " + packed.length + " bytes");
        }
        ByteBuffer buffer = ByteBuffer.wrap(packed);
        int length = buffer.getInt();
        if (length < 0 || length > buffer.remaining()) {
            throw new EOFException("The answer's metadata are to have " + length + " of " + packed.length + " bytes");
        }
        byte[] metadata = new byte[length];
        buffer.get(metadata);
        byte[] body = new byte[buffer.remaining()];
        buffer.get(body);
        return new RecordedResult.Replayable(status, metadata, body);
    }

    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream output = new DataOutputStream(bytes)) {
            output.writeByte(MARK);
            output.writeByte(LAYOUT);
            output.writeInt(plainLength);
            output.writeByte(encodings.size());
            for (String encoding : encodings) {
                byte[] name = encoding.getBytes(StandardCharsets.US_ASCII);
                output.writeByte(name.length);
                output.write(name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static Envelope of(byte[] bytes) throws IOException {
        try (DataInputStream input = new DataInputStream(new ByteArrayInputStream(bytes))) {
            input.readByte();
            int layout = input.readByte();
            if (layout != LAYOUT) {
                throw new IOException("The envelope's layout " + layout + " is not known to this version");
            }
            int plainLength = input.readInt();
            int count = input.readUnsignedByte();
            List<String> encodings = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                byte[] name = new byte[input.readUnsignedByte()];
                input.readFully(name);
                encodings.add(new String(name, StandardCharsets.US_ASCII));
            }
            return new Envelope(encodings, plainLength);
        }
    }
}
