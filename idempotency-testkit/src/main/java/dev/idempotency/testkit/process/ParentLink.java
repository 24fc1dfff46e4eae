package dev.idempotency.testkit.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The child's end of the pipe from its parent: passes lines on as the process's standard input, takes releases out, and
 * halts the process when the pipe ends, which it does at the very moment the parent dies, however it dies.
 */
final class ParentLink {
    static final String RELEASE = "@@release";

    /** The exit status of a child whose parent is gone. */
    static final int ORPHAN_STATUS = 87;

    private final LinkedBlockingQueue<byte[]> input = new LinkedBlockingQueue<>();
    private final Semaphore releases = new Semaphore(0);

    static ParentLink open(InputStream pipe) {
        ParentLink link = new ParentLink();
        Thread reader = new Thread(() -> link.read(pipe), "parent-link");
        reader.setDaemon(true);
        reader.start();
        return link;
    }

    InputStream standardInput() {
        return new QueuedInput();
    }

    void awaitRelease() {
        releases.acquireUninterruptibly();
    }

    private void read(InputStream pipe) {
        try {
            StringBuilder line = new StringBuilder();
            for (int next = pipe.read(); next >= 0; next = pipe.read()) {
                line.append((char) next);
                if (next == '\n') {
                    accept(line.toString());
                    line.setLength(0);
                }
            }
        } catch (IOException brokenPipe) {
            // The same as its end: nobody is left on the other side.
        }
        Runtime.getRuntime().halt(ORPHAN_STATUS);
    }

    private void accept(String line) {
        if (line.strip().equals(RELEASE)) {
            releases.release();
        } else {
            input.add(line.getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** Unbounded, so that a child which never reads its input still notices that its parent is gone. */
    private final class QueuedInput extends InputStream {
        private byte @Nullable [] chunk;
        private int position;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public synchronized int read(byte[] target, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            byte[] current = chunk;
            if (current == null || position == current.length) {
                current = next();
                chunk = current;
                position = 0;
            }
            int count = Math.min(length, current.length - position);
            System.arraycopy(current, position, target, offset, count);
            position += count;
            return count;
        }

        private byte[] next() throws IOException {
            try {
                return input.take();
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                throw new IOException("Interrupted while waiting for the parent's next line", interrupt);
            }
        }
    }
}
