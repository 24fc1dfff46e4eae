package dev.idempotency.testkit.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final List<String> received = new CopyOnWriteArrayList<>();
    private ServerSocket server;
    private Thread acceptor;
    private TcpProxy proxy;

    @BeforeEach
    void startServer() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        acceptor = new Thread(this::serve, "echo-server");
        acceptor.setDaemon(true);
        acceptor.start();
        proxy = TcpProxy.to(server.getLocalPort());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        proxy.close();
        server.close();
    }

    @Test
    void passes_bothWays() throws IOException {
        try (Client client = new Client()) {
            assertThat(client.ask("one")).isEqualTo("re one");
            assertThat(client.ask("two")).isEqualTo("re two");
        }
        assertThat(proxy.connections()).isEqualTo(1);
        await().atMost(SOON).until(() -> proxy.openConnections() == 0);
    }

    @Test
    void cut_resetsPresentConnections_newOnesPass() throws IOException {
        try (Client client = new Client()) {
            client.ask("one");
            proxy.cut();
            assertThatThrownBy(() -> client.ask("two")).isInstanceOf(IOException.class);
        }
        try (Client client = new Client()) {
            assertThat(client.ask("three")).isEqualTo("re three");
        }
    }

    @Test
    void to_chosenPort_listensThere() throws IOException {
        int freed = proxy.port();
        proxy.close();
        proxy = TcpProxy.to(server.getLocalPort(), freed);
        assertThat(proxy.port()).isEqualTo(freed);
        try (Client client = new Client()) {
            assertThat(client.ask("one")).isEqualTo("re one");
        }
    }

    @Test
    void stall_holdsBackUntilResumed() throws IOException {
        try (Client client = new Client()) {
            client.ask("one");
            proxy.stall(TcpProxy.Direction.TO_CLIENT);
            client.send("two");
            await().atMost(SOON).until(() -> received.contains("two"));
            assertThatThrownBy(client::receiveBriefly).isInstanceOf(SocketTimeoutException.class);
            proxy.resume();
            assertThat(client.receive()).isEqualTo("re two");
        }
    }

    @Test
    void discard_isHalfOpen() throws IOException {
        try (Client client = new Client()) {
            client.ask("one");
            proxy.discard(TcpProxy.Direction.TO_SERVER);
            client.send("two");
            assertThatThrownBy(client::receiveBriefly).isInstanceOf(SocketTimeoutException.class);
            proxy.resume();
            assertThat(client.ask("three")).isEqualTo("re three");
            assertThat(received).containsExactly("one", "three");
        }
    }

    @Test
    void refuse_untilResumed_onTheSamePort() throws IOException {
        proxy.refuse();
        assertThatThrownBy(Client::new).isInstanceOf(IOException.class);
        proxy.resume();
        try (Client client = new Client()) {
            assertThat(client.ask("one")).isEqualTo("re one");
        }
    }

    @Test
    void loseAnswerTo_serverActsClientSeesReset() throws IOException {
        try (Client client = new Client()) {
            client.ask("one");
            proxy.loseAnswerTo("COMMIT");
            assertThat(client.ask("insert")).isEqualTo("re insert");
            assertThat(proxy.answerLost()).isFalse();
            client.sendRaw("COM");
            await().atMost(SOON).until(() -> proxy.bytesToServer() == "one\ninsert\nCOM".length());
            client.sendRaw("MIT\n");
            assertThatThrownBy(client::receive).isInstanceOf(IOException.class);
            assertThat(received).containsExactly("one", "insert", "COMMIT");
            assertThat(proxy.answerLost()).isTrue();
        }
    }

    @Test
    void serverGone_clientSeesTheEnd() throws Exception {
        server.close();
        acceptor.join(SOON.toMillis());
        assertThatThrownBy(() -> {
                    try (Client client = new Client()) {
                        client.ask("one");
                    }
                })
                .isInstanceOf(IOException.class);
    }

    private void serve() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                Thread handler = new Thread(() -> echo(socket), "echo");
                handler.setDaemon(true);
                handler.start();
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void echo(Socket socket) {
        try (socket) {
            BufferedReader input =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            Writer output = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.US_ASCII);
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                received.add(line);
                output.write("re " + line + "\n");
                output.flush();
            }
        } catch (IOException connectionGone) {
            // The test has cut it.
        }
    }

    private final class Client implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader input;

        Client() throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) SOON.toMillis());
            input = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        }

        String ask(String line) throws IOException {
            send(line);
            return receive();
        }

        void send(String line) throws IOException {
            sendRaw(line + "\n");
        }

        void sendRaw(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
        }

        String receive() throws IOException {
            String line = input.readLine();
            if (line == null) {
                throw new IOException("The connection has ended");
            }
            return line;
        }

        String receiveBriefly() throws IOException {
            socket.setSoTimeout(200);
            try {
                return receive();
            } finally {
                socket.setSoTimeout((int) SOON.toMillis());
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
