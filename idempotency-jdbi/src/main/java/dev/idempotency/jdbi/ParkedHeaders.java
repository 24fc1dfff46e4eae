package dev.idempotency.jdbi;

import dev.idempotency.spi.EventHeader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Headers as the bytes of one column: they may repeat, may be null and need not be text, so no JSON. */
final class ParkedHeaders {
    private static final int NULL = -1;

    private ParkedHeaders() {}

    static byte[] encode(List<EventHeader> headers) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(headers.size());
            for (EventHeader header : headers) {
                byte[] name = header.name().getBytes(StandardCharsets.UTF_8);
                byte[] value = header.value();
                out.writeInt(name.length);
                out.write(name);
                out.writeInt(value == null ? NULL : value.length);
                out.write(value == null ? new byte[0] : value);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Headers could not be written to memory", e);
        }
        return bytes.toByteArray();
    }

    @SuppressWarnings("NullAway") // on JDK 17 it does not see in a class file that an array may be null
    static List<EventHeader> decode(byte[] bytes) {
        List<EventHeader> headers = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                String name = new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
                int length = in.readInt();
                headers.add(new EventHeader(name, length == NULL ? null : in.readNBytes(length)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The headers of a parked event are cut off", e);
        }
        return headers;
    }
}
