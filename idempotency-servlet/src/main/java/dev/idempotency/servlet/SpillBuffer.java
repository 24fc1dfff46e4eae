package dev.idempotency.servlet;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Bytes held in memory up to a limit, then in a temporary file up to another; beyond that, refused.
 *
 * <p>The limits count the bytes that really came. Where the operating system allows, the file loses its name as soon as
 * it is open, so that a killed process leaves nobody's body behind.
 */
final class SpillBuffer extends OutputStream {
    private final BufferLimits limits;
    private final ByteArrayOutputStream memory = new ByteArrayOutputStream();
    private @Nullable FileChannel file;
    private long size;

    SpillBuffer(BufferLimits limits) {
        this.limits = limits;
    }

    /** Thrown when more bytes come than the limits allow; those before it are still held, none of these. */
    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLargeException(long limit) {
            super("More than " + limit + " bytes came, and no more are allowed here");
        }
    }

    /** Thrown when the temporary file cannot be written: nobody's fault who sent or wrote the bytes. */
    static final class SpillException extends IOException {
        private static final long serialVersionUID = 1L;

        SpillException(IOException cause) {
            super(
                    "A body too large for the memory given to it could not be written to a temporary file in "
                            + System.getProperty("java.io.tmpdir") + ": make room there, or allow more memory by"
                            + " BufferLimits",
                    cause);
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
            spill(ByteBuffer.wrap(bytes, offset + room, length - room));
        }
        size += length;
    }

    private void spill(ByteBuffer rest) throws SpillException {
        try {
            FileChannel channel = openFile();
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
        } catch (IOException e) {
            throw new SpillException(e);
        }
    }

    private FileChannel openFile() throws IOException {
        if (file == null) {
            Path path = Files.createTempFile("idempotency-", ".body");
            file = FileChannel.open(
                    path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
        }
        return file;
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

    /** Opens the bytes from the beginning. */
    InputStream open() {
        InputStream start = new ByteArrayInputStream(memory.toByteArray());
        return file == null ? start : new SequenceInputStream(start, new FileStream(file));
    }

    /** All bytes at once; only for sizes that are known to be small. */
    byte[] toBytes() throws IOException {
        try (InputStream input = open()) {
            return input.readAllBytes();
        }
    }

    void writeTo(OutputStream target) throws IOException {
        memory.writeTo(target);
        if (file != null) {
            new FileStream(file).transferTo(target);
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            FileChannel closing = file;
            file = null;
            closing.close();
        }
    }

    /** Reads the file from its beginning, with a position of its own. */
    private static final class FileStream extends InputStream {
        private final FileChannel channel;
        private long position;

        FileStream(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public int read() throws IOException {
            byte[] single = new byte[1];
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            int count = channel.read(ByteBuffer.wrap(bytes, offset, length), position);
            position += Math.max(0, count);
            return count;
        }
    }
}
