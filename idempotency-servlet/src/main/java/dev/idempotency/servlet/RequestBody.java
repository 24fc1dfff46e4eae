package dev.idempotency.servlet;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request, read before the chain runs: its bytes, or the parts that the container made of them.
 *
 * <p>A multipart body is compared part by part, since every sending draws a new boundary. It is the container that parses
 * it, with the limits that the servlet declares, because a servlet asks the container for its parts. Of a form whose
 * parameters a filter before this one has asked for no bytes are left, and the parameters are compared.
 */
final class RequestBody implements AutoCloseable {
    private final SpillBuffer bytes;
    private final @Nullable List<Part> parts;
    private final @Nullable Map<String, String[]> parameters;

    private RequestBody(SpillBuffer bytes, @Nullable List<Part> parts, @Nullable Map<String, String[]> parameters) {
        this.bytes = bytes;
        this.parts = parts;
        this.parameters = parameters;
    }

    /** Thrown when a multipart body is refused by the container, what was left of it makes no sense, or a form is broken. */
    static final class MalformedException extends IOException {
        private static final long serialVersionUID = 1L;

        MalformedException(@Nullable Throwable cause) {
            super("The body could not be taken apart", cause);
        }
    }

    /**
     * Reads the whole body.
     *
     * @throws SpillBuffer.TooLargeException if it is larger than the limits
     * @throws MalformedException if it is multipart and the container refuses it, or a form that cannot be read
     * @throws IOException if it ends early
     */
    static RequestBody read(HttpServletRequest request, BufferLimits limits) throws IOException {
        SpillBuffer bytes = new SpillBuffer(limits);
        try {
            List<Part> parts = parts(request, limits);
            if (parts == null) {
                request.getInputStream().transferTo(bytes);
                requireUntouched(request, bytes);
            }
            boolean form = parts == null && FormBody.isForm(request.getContentType());
            if (form) {
                requireReadable(request, bytes);
            }
            boolean spent = form && bytes.size() == 0;
            return new RequestBody(bytes, parts, spent ? request.getParameterMap() : null);
        } catch (IOException | RuntimeException e) {
            bytes.close();
            throw e;
        }
    }

    private static @Nullable List<Part> parts(HttpServletRequest request, BufferLimits limits) throws IOException {
        if (!isMultipart(request)) {
            return null;
        }
        if (request.getContentLengthLong() > limits.total()) {
            // The container would write all of it to its disk; read as bytes, it is refused when the limit is reached.
            return null;
        }
        Collection<Part> found;
        try {
            found = request.getParts();
        } catch (IllegalStateException e) {
            // The servlet takes no parts, and the body is untouched; or a part was too large, and it is not.
            return null;
        } catch (ServletException e) {
            throw new MalformedException(e);
        }
        long size = found.stream().mapToLong(Part::getSize).sum();
        if (size > limits.total()) {
            throw new SpillBuffer.TooLargeException(limits.total());
        }
        return List.copyOf(found);
    }

    private static boolean isMultipart(HttpServletRequest request) {
        String type = request.getContentType();
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data");
    }

    /** A multipart body begins with two hyphens; one that does not had lost its beginning to the container's parser. */
    private static void requireUntouched(HttpServletRequest request, SpillBuffer bytes) throws IOException {
        if (isMultipart(request)) {
            try (InputStream input = bytes.open()) {
                if (!new String(input.readNBytes(2), StandardCharsets.ISO_8859_1).equals("--")) {
                    throw new MalformedException(null);
                }
            }
        }
    }

    /** A form that cannot be read is the client's fault, and is found before the servlet asks for a parameter. */
    private static void requireReadable(HttpServletRequest request, SpillBuffer bytes) throws IOException {
        try (InputStream input = new BufferedInputStream(bytes.open())) {
            String charset = request.getCharacterEncoding();
            if (charset != null && !Charset.isSupported(charset)) {
                throw new MalformedException(null);
            }
            FormBody.requireReadable(input);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e);
        }
    }

    /** Tells whether the container has parsed the body, so that its stream is spent. */
    boolean isParsed() {
        return parts != null;
    }

    long size() {
        return bytes.size();
    }

    /** The bytes as they came. */
    InputStream open() {
        return bytes.open();
    }

    byte[] toBytes() throws IOException {
        return bytes.toBytes();
    }

    /** What is compared: the bytes as they came, or what the container made of them. */
    InputStream comparable() throws IOException {
        if (parameters != null) {
            return new ByteArrayInputStream(encoded(parameters));
        }
        if (parts == null) {
            return bytes.open();
        }
        List<InputStream> streams = new ArrayList<>();
        for (Part part : parts) {
            streams.add(new ByteArrayInputStream(head(part)));
            streams.add(part.getInputStream());
        }
        return new SequenceInputStream(Collections.enumeration(streams));
    }

    private static byte[] encoded(Map<String, String[]> parameters) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream output = new DataOutputStream(bytes)) {
            for (Map.Entry<String, String[]> parameter : new TreeMap<>(parameters).entrySet()) {
                write(output, parameter.getKey());
                output.writeInt(parameter.getValue().length);
                for (String value : parameter.getValue()) {
                    write(output, value);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Name, file name, type and size: where a part ends is part of what it is. */
    private static byte[] head(Part part) {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        try (DataOutputStream output = new DataOutputStream(head)) {
            write(output, part.getName());
            write(output, part.getSubmittedFileName());
            write(output, part.getContentType());
            output.writeLong(part.getSize());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return head.toByteArray();
    }

    private static void write(DataOutputStream output, @Nullable String text) throws IOException {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        output.writeInt(text == null ? -1 : bytes.length);
        output.write(bytes);
    }

    @Override
    public void close() throws IOException {
        bytes.close();
    }
}
