package dev.idempotency.servlet;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Bytes held in memory up to a limit, then in a temporary file up to another; beyond that, refused.
 *
 * <p>The limits count the bytes that really came. Closing deletes the file.
 */
final class SpillBuffer extends OutputStream {
    private final BufferLimits limits;
    private final ByteArrayOutputStream memory = new ByteArrayOutputStream();
    private @Nullable Path file;
    private @Nullable OutputStream fileOutput;
    private long size;

    SpillBuffer(BufferLimits limits) {
        this.limits = limits;
    }

    /** Thrown when more bytes come than the limits allow; those before it are still held. */
    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLargeException(long limit) {
            super("More than " + limit + " bytes came, and no more are allowed here");
        }
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (size + length > limits.total()) {
            throw new TooLargeException(limits.total());
        }
        int room = (int) Math.min(length, Math.max(0, limits.memory() - size));
        memory.write(bytes, offset, room);
        if (room < length) {
            spill().write(bytes, offset + room, length - room);
        }
        size += length;
    }

    private OutputStream spill() throws IOException {
        if (fileOutput == null) {
            file = Files.createTempFile("idempotency-", ".body");
            fileOutput = Files.newOutputStream(file);
        }
        return fileOutput;
    }

    long size() {
        return size;
    }

    /** Forgets everything that was written. */
    void clear() throws IOException {
        memory.reset();
        size = 0;
        close();
    }

    /** Opens the bytes from the beginning; what is written later is not seen. */
    InputStream open() throws IOException {
        InputStream start = new ByteArrayInputStream(memory.toByteArray());
        if (file == null || fileOutput == null) {
            return start;
        }
        fileOutput.flush();
        return new SequenceInputStream(start, Files.newInputStream(file));
    }

    /** All bytes at once; only for sizes that are known to be small. */
    byte[] toBytes() throws IOException {
        try (InputStream input = open()) {
            return input.readAllBytes();
        }
    }

    void writeTo(OutputStream target) throws IOException {
        memory.writeTo(target);
        if (file != null && fileOutput != null) {
            fileOutput.flush();
            Files.copy(file, target);
        }
    }

    @Override
    public void close() throws IOException {
        if (fileOutput != null && file != null) {
            fileOutput.close();
            Files.deleteIfExists(file);
            fileOutput = null;
            file = null;
        }
    }
}
