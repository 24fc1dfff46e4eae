package dev.idempotency.testkit.fault;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a client and a server and does what networks do: cuts, stalls, swallows, loses the answer.
 *
 * <p>Listens on a port of the loopback address. Every state holds for present and future connections until {@link
 * #resume()}. Safe for use by many threads.
 */
public final class TcpProxy implements AutoCloseable {
    /** Which way bytes go. */
    public enum Direction {
        /** What the client sends. */
        TO_SERVER,
        /** What the server answers. */
        TO_CLIENT
    }

    private enum Flow {
        PASS,
        STALL,
        DISCARD
    }

    private final InetSocketAddress target;
    private final int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong bytesToServer = new AtomicLong();

    private final Object monitor = new Object();
    private final Map<Direction, Flow> flows = new EnumMap<>(Direction.class);
    private byte @Nullable [] marker;
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;
    private boolean closed;

    private TcpProxy(InetSocketAddress target, int wantedPort) throws IOException {
        this.target = target;
        flows.put(Direction.TO_SERVER, Flow.PASS);
        flows.put(Direction.TO_CLIENT, Flow.PASS);
        this.port = listen(wantedPort);
    }

    /**
     * Starts a proxy in front of a port of this machine.
     *
     * @param targetPort the server's port
     * @return the running proxy, to be closed
     * @throws UncheckedIOException if no port can be had
     */
    public static TcpProxy to(int targetPort) {
        return to(targetPort, 0);
    }

    /**
     * Starts a proxy in front of a port of this machine, on a port that is known before: for servers that tell their
     * clients where to find them, as Kafka's brokers do.
     *
     * @param targetPort the server's port
     * @param port the proxy's own port; 0 for any
     * @return the running proxy, to be closed
     * @throws UncheckedIOException if the port cannot be had
     */
    public static TcpProxy to(int targetPort, int port) {
        try {
            return new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort), port);
        } catch (IOException noPort) {
            throw new UncheckedIOException("Cannot listen on port " + port + " of the loopback address", noPort);
        }
    }

    /**
     * Returns the port for clients, on the loopback address.
     *
     * @return the port; the same as long as the proxy lives
     */
    public int port() {
        return port;
    }

    /**
     * Resets all present connections on both sides; new ones are accepted.
     *
     * @return how many connections were reset; with 0 nothing has happened to anybody
     */
    public int cut() {
        List<Link> present = List.copyOf(links);
        present.forEach(Link::reset);
        return present.size();
    }

    /** Holds all bytes in both directions back until {@link #resume()}; connections stay open. */
    public void stall() {
        stall(Direction.TO_SERVER);
        stall(Direction.TO_CLIENT);
    }

    /**
     * Holds the bytes of one direction back until {@link #resume()}.
     *
     * @param direction which
     */
    public void stall(Direction direction) {
        flow(direction, Flow.STALL);
    }

    /**
     * Swallows the bytes of one direction and the end of the stream too: a half-open connection, on which each side
     * believes the other is there.
     *
     * @param direction which
     */
    public void discard(Direction direction) {
        flow(direction, Flow.DISCARD);
    }

    /** Refuses new connections until {@link #resume()}; present ones stay. */
    public void refuse() {
        Thread ended;
        synchronized (monitor) {
            ended = stopListening();
        }
        awaitEnd(ended);
    }

    /**
     * Loses the answer to the next request that holds this text: the request is passed on, the server acts and answers,
     * and instead of the answer the client sees the connection reset.
     *
     * @param text ASCII text of the request, for instance {@code COMMIT} or {@code POST /orders}; found also where it is
     *     spread over packets
     */
    public void loseAnswerTo(String text) {
        synchronized (monitor) {
            marker = text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /**
     * Tells whether the request of {@link #loseAnswerTo(String)} has been seen.
     *
     * @return true if no request is waited for
     */
    public boolean answerLost() {
        synchronized (monitor) {
            return marker == null;
        }
    }

    /** Lets bytes and connections pass again; what was held back is delivered, what was swallowed is lost. */
    public void resume() {
        synchronized (monitor) {
            flows.replaceAll((direction, flow) -> Flow.PASS);
            marker = null;
            monitor.notifyAll();
            if (listener == null && !closed) {
                try {
                    listen(port);
                } catch (IOException portTaken) {
                    throw new UncheckedIOException("Cannot listen again on port " + port, portTaken);
                }
            }
        }
    }

    /**
     * Returns how many connections have been accepted.
     *
     * @return 0 or more
     */
    public long connections() {
        return accepted.get();
    }

    /**
     * Returns how many bytes have been passed on to the server.
     *
     * @return 0 or more
     */
    public long bytesToServer() {
        return bytesToServer.get();
    }

    /**
     * Returns how many connections are open.
     *
     * @return 0 or more
     */
    public int openConnections() {
        return links.size();
    }

    /** Resets all connections and stops listening; does nothing the second time. */
    @Override
    public void close() {
        Thread ended;
        synchronized (monitor) {
            closed = true;
            ended = stopListening();
            monitor.notifyAll();
        }
        awaitEnd(ended);
        cut();
    }

    private @Nullable Thread stopListening() {
        closeQuietly(listener);
        listener = null;
        return acceptor;
    }

    /** The system goes on accepting until the thread that waits in accept has left it. */
    private static void awaitEnd(@Nullable Thread thread) {
        try {
            if (thread != null) {
                thread.join();
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private int listen(int wantedPort) throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wantedPort));
        Thread thread = thread("accept", () -> accept(socket));
        synchronized (monitor) {
            listener = socket;
            acceptor = thread;
        }
        thread.start();
        return socket.getLocalPort();
    }

    private void accept(ServerSocket socket) {
        while (true) {
            try {
                Socket client = socket.accept();
                accepted.incrementAndGet();
                open(client);
            } catch (IOException listenerClosed) {
                return;
            }
        }
    }

    private void open(Socket client) {
        Socket server = new Socket();
        Link link = new Link(client, server);
        links.add(link);
        try {
            server.connect(target);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        } catch (IOException targetGone) {
            link.reset();
            return;
        }
        thread("to-server", () -> link.pump(client, server, Direction.TO_SERVER))
                .start();
        thread("to-client", () -> link.pump(server, client, Direction.TO_CLIENT))
                .start();
        synchronized (monitor) {
            if (closed) {
                link.reset();
            }
        }
    }

    private Thread thread(String role, Runnable task) {
        Thread thread = new Thread(task, "tcp-proxy-" + port + "-" + role);
        thread.setDaemon(true);
        return thread;
    }

    private void flow(Direction direction, Flow flow) {
        synchronized (monitor) {
            flows.put(direction, flow);
            monitor.notifyAll();
        }
    }

    /** Waits while the direction is stalled; answers whether bytes are to be passed on. */
    private boolean awaitPassing(Direction direction) throws IOException {
        synchronized (monitor) {
            while (flows.get(direction) == Flow.STALL && !closed) {
                try {
                    monitor.wait();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                    throw new IOException("Interrupted while stalled", interrupt);
                }
            }
            return flows.get(direction) == Flow.PASS;
        }
    }

    private static void closeQuietly(@Nullable Closeable closeable) {
        if (closeable != null) {
            try {
                closeable.close();
            } catch (IOException alreadyBroken) {
                // Nothing is left to close.
            }
        }
    }

    private final class Link {
        private final Socket client;
        private final Socket server;
        /** The end of what the client sent before, in which a marker may have begun. */
        private byte[] tail = new byte[0];

        private volatile boolean answerIsLost;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pump(Socket from, Socket to, Direction direction) {
            byte[] buffer = new byte[16 * 1024];
            try {
                InputStream input = from.getInputStream();
                OutputStream output = to.getOutputStream();
                for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                    boolean passing = awaitPassing(direction);
                    if (direction == Direction.TO_CLIENT && answerIsLost) {
                        reset();
                        return;
                    }
                    if (passing) {
                        if (direction == Direction.TO_SERVER && holdsMarker(buffer, count)) {
                            answerIsLost = true;
                        }
                        output.write(buffer, 0, count);
                        output.flush();
                        if (direction == Direction.TO_SERVER) {
                            bytesToServer.addAndGet(count);
                        }
                    }
                }
                if (awaitPassing(direction)) {
                    to.shutdownOutput();
                    if (from.isOutputShutdown()) {
                        reset();
                    }
                }
            } catch (IOException connectionGone) {
                reset();
            }
        }

        void reset() {
            links.remove(this);
            for (Socket socket : new Socket[] {client, server}) {
                try {
                    // The difference between an end in good order and a cable that is pulled.
                    socket.setSoLinger(true, 0);
                } catch (IOException alreadyClosed) {
                    // Then there is nothing left to reset.
                }
                closeQuietly(socket);
            }
        }

        private boolean holdsMarker(byte[] buffer, int count) {
            synchronized (monitor) {
                byte[] wanted = marker;
                if (wanted == null) {
                    return false;
                }
                byte[] text = new byte[tail.length + count];
                System.arraycopy(tail, 0, text, 0, tail.length);
                System.arraycopy(buffer, 0, text, tail.length, count);
                if (new String(text, StandardCharsets.ISO_8859_1)
                        .contains(new String(wanted, StandardCharsets.ISO_8859_1))) {
                    marker = null;
                    return true;
                }
                int kept = Math.min(text.length, wanted.length - 1);
                tail = Arrays.copyOfRange(text, text.length - kept, text.length);
                return false;
            }
        }
    }

    @Override
    public String toString() {
        return "TcpProxy[" + port + " -> " + Objects.toString(target) + "]";
    }
}
