package dev.idempotency.servlet;

import dev.idempotency.RecordedResult;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a response that are stored beside its bytes: the allow-listed headers, or the error that the container is
 * to render again.
 */
@SuppressWarnings("ArrayRecordComponent") // made for one answer and never compared
record StoredResponse(
        int status,
        List<Header> headers,
        boolean error,
        @Nullable String message,
        byte[] body) {
    private static final int LAYOUT = 1;

    /** One header line. */
    record Header(String name, String value) {}

    RecordedResult.Replayable toResult() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream output = new DataOutputStream(bytes)) {
            output.writeByte(LAYOUT);
            output.writeBoolean(error);
            output.writeBoolean(message != null);
            if (message != null) {
                write(output, message);
            }
            output.writeShort(headers.size());
            for (Header header : headers) {
                write(output, header.name());
                write(output, header.value());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new RecordedResult.Replayable(status, bytes.toByteArray(), body);
    }

    /** Not writeUTF, whose texts end at 64 KiB. */
    private static void write(DataOutputStream output, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        output.writeInt(bytes.length);
        output.write(bytes);
    }

    private static String read(DataInputStream input) throws IOException {
        int length = input.readInt();
        byte[] bytes = length < 0 ? new byte[0] : input.readNBytes(length);
        if (bytes.length != length) {
            throw new EOFException("A text of " + length + " bytes has only " + bytes.length);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #toResult} wrote.
     *
     * @throws UnreadableException if the metadata has a layout this version does not know, or is damaged
     */
    static StoredResponse of(RecordedResult.Replayable result) throws UnreadableException {
        try (DataInputStream input = new DataInputStream(new ByteArrayInputStream(result.metadata()))) {
            int layout = input.readByte();
            if (layout != LAYOUT) {
                throw new UnreadableException("layout " + layout + " is not known to this version", null);
            }
            boolean error = input.readBoolean();
            String message = input.readBoolean() ? read(input) : null;
            int count = input.readUnsignedShort();
            List<Header> headers = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                headers.add(new Header(read(input), read(input)));
            }
            return new StoredResponse(result.status(), headers, error, message, result.body());
        } catch (IOException e) {
            throw new UnreadableException("the metadata is damaged", e);
        }
    }

    /** Tells whether {@link #of} reads it. */
    static boolean isReadable(RecordedResult.Replayable result) {
        try {
            of(result);
            return true;
        } catch (UnreadableException e) {
            return false;
        }
    }

    /** A stored response that this version cannot read; the operation is over all the same. */
    static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
