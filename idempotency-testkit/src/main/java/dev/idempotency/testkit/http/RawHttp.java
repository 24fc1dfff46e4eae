package dev.idempotency.testkit.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Sends requests that a well-behaved client would not: header lines byte by byte as given, bodies cut short.
 *
 * <p>One connection per request. Instances are immutable and safe for use by many threads.
 */
public final class RawHttp {
    private final Duration timeout;

    /**
     * Makes a client.
     *
     * @param timeout how long to wait for each read of the answer; 1 ms or more
     */
    public RawHttp(Duration timeout) {
        this.timeout = timeout;
    }

    /**
     * Sends a request and reads its whole answer.
     *
     * @param method the method
     * @param target where to; its query is sent too
     * @param headerLines complete lines such as {@code Idempotency-Key: "a"}, sent as ISO-8859-1
     * @param body the body; {@code Content-Length} is added
     * @return the answer
     * @throws IOException if the connection fails or the answer is cut short
     */
    public HttpAnswer send(String method, URI target, List<String> headerLines, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        List<String> lines = new ArrayList<>(headerLines);
        lines.add("Content-Length: " + bytes.length);
        try (Socket socket = connect(target)) {
            write(socket, method, target, lines, bytes);
            return read(socket.getInputStream());
        }
    }

    /**
     * Sends a request without announcing its length, chunk by chunk, and reads its whole answer.
     *
     * @param method the method
     * @param target where to
     * @param headerLines complete lines; {@code Transfer-Encoding} is added
     * @param chunks the chunks, none of them empty
     * @return the answer
     * @throws IOException if the connection fails or the answer is cut short
     */
    public HttpAnswer sendChunked(String method, URI target, List<String> headerLines, List<String> chunks)
            throws IOException {
        List<String> lines = new ArrayList<>(headerLines);
        lines.add("Transfer-Encoding: chunked");
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (String chunk : chunks) {
            byte[] bytes = chunk.getBytes(StandardCharsets.UTF_8);
            body.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            body.write(bytes);
            body.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        body.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        try (Socket socket = connect(target)) {
            write(socket, method, target, lines, body.toByteArray());
            return read(socket.getInputStream());
        }
    }

    /**
     * Sends a request and resets the connection without reading an answer.
     *
     * @param method the method
     * @param target where to
     * @param headerLines complete lines
     * @param body the body; {@code Content-Length} is added
     * @throws IOException if the connection fails before the request is sent
     */
    public void sendAndLeave(String method, URI target, List<String> headerLines, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        List<String> lines = new ArrayList<>(headerLines);
        lines.add("Content-Length: " + bytes.length);
        try (Socket socket = connect(target)) {
            write(socket, method, target, lines, bytes);
            // The client is gone, and the service learns it only when it answers.
            socket.setSoLinger(true, 0);
        }
    }

    /**
     * Sends the beginning of a request, then closes the sending side.
     *
     * @param method the method
     * @param target where to
     * @param headerLines complete lines
     * @param announced the {@code Content-Length} to announce
     * @param body the bytes to send, fewer than announced
     * @return the answer
     * @throws IOException if the connection is closed without an answer
     */
    public HttpAnswer sendTruncated(String method, URI target, List<String> headerLines, int announced, String body)
            throws IOException {
        List<String> lines = new ArrayList<>(headerLines);
        lines.add("Content-Length: " + announced);
        try (Socket socket = connect(target)) {
            write(socket, method, target, lines, body.getBytes(StandardCharsets.UTF_8));
            socket.shutdownOutput();
            return read(socket.getInputStream());
        }
    }

    private Socket connect(URI target) throws IOException {
        Socket socket = new Socket(target.getHost(), target.getPort());
        socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
        return socket;
    }

    private static void write(Socket socket, String method, URI target, List<String> lines, byte[] body)
            throws IOException {
        String path = target.getRawPath() + (target.getRawQuery() == null ? "" : "?" + target.getRawQuery());
        StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
        head.append("Host: ").append(target.getAuthority()).append("\r\nConnection: close\r\n");
        lines.forEach(line -> head.append(line).append("\r\n"));
        head.append("\r\n");
        OutputStream output = socket.getOutputStream();
        output.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        output.write(body);
        output.flush();
    }

    private static HttpAnswer read(InputStream input) throws IOException {
        String statusLine = line(input);
        if (statusLine.length() < 12) {
            throw new EOFException("The connection was closed without an answer");
        }
        int status = Integer.parseInt(statusLine.substring(9, 12));
        Map<String, List<String>> headers = new LinkedHashMap<>();
        readFields(input, headers);
        byte[] body;
        if (headers.getOrDefault("transfer-encoding", List.of()).contains("chunked")) {
            body = chunks(input);
            readFields(input, headers);
        } else {
            body = fixed(input, headers.getOrDefault("content-length", List.of("-1")));
        }
        return new HttpAnswer(status, headers, body);
    }

    private static void readFields(InputStream input, Map<String, List<String>> fields) throws IOException {
        for (String line = line(input); !line.isEmpty(); line = line(input)) {
            int colon = line.indexOf(':');
            fields.computeIfAbsent(line.substring(0, colon).toLowerCase(Locale.ROOT), unused -> new ArrayList<>())
                    .add(line.substring(colon + 1).trim());
        }
    }

    private static byte[] fixed(InputStream input, List<String> length) throws IOException {
        int announced = Integer.parseInt(length.get(0));
        byte[] body = announced < 0 ? input.readAllBytes() : input.readNBytes(announced);
        if (announced > body.length) {
            throw new EOFException("The answer's body ended after " + body.length + " of " + announced + " bytes");
        }
        return body;
    }

    private static byte[] chunks(InputStream input) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int size = size(input); size > 0; size = size(input)) {
            byte[] chunk = input.readNBytes(size);
            if (chunk.length < size) {
                throw new EOFException("The answer's body ended within a chunk");
            }
            body.write(chunk);
            line(input);
        }
        return body.toByteArray();
    }

    private static int size(InputStream input) throws IOException {
        String line = line(input);
        if (line.isEmpty()) {
            throw new EOFException("The answer's body ended before its last chunk");
        }
        return Integer.parseInt(line, 16);
    }

    private static String line(InputStream input) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = input.read(); next >= 0 && next != '\n'; next = input.read()) {
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}
