package dev.idempotency;

import dev.idempotency.spi.AnswerEncoding;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Compresses answers (RFC 1951); reading stops at the bound, so a forged record cannot fill the memory. */
final class Deflation implements AnswerEncoding {
    static final String NAME = "deflate";

    private static final int CHUNK = 8192;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public byte[] encode(RecordId id, byte[] answer) {
        Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        try {
            deflater.setInput(answer);
            deflater.finish();
            ByteArrayOutputStream compressed = new ByteArrayOutputStream(Math.max(64, answer.length / 4));
            byte[] chunk = new byte[CHUNK];
            while (!deflater.finished()) {
                compressed.write(chunk, 0, deflater.deflate(chunk));
            }
            return compressed.toByteArray();
        } finally {
            deflater.end();
        }
    }

    @Override
    public byte[] decode(RecordId id, byte[] stored, int maxBytes) throws IOException {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(stored);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            byte[] chunk = new byte[CHUNK];
            while (!inflater.finished()) {
                int length = inflater.inflate(chunk);
                if (length == 0 && !inflater.finished()) {
                    throw new IOException("The compressed bytes end early");
                }
                if (length > maxBytes - answer.size()) {
                    throw new IOException("The compressed bytes are more than " + maxBytes + " without compression");
                }
                answer.write(chunk, 0, length);
            }
            return answer.toByteArray();
        } catch (DataFormatException e) {
            throw new IOException("The compressed bytes are damaged", e);
        } finally {
            inflater.end();
        }
    }
}
