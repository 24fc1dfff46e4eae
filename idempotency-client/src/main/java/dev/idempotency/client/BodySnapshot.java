package dev.idempotency.client;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Reads a request's body once, so that every attempt sends the same bytes. */
final class BodySnapshot implements Flow.Subscriber<ByteBuffer> {
    private final int maxBytes;
    private final ByteArrayOutputStream collected = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> bytes = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    private BodySnapshot(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Returns the body's bytes.
     *
     * @return completed with the bytes, with {@link TooLarge}, or with what the publisher met
     */
    static CompletableFuture<byte[]> of(HttpRequest request, int maxBytes) {
        HttpRequest.BodyPublisher publisher = request.bodyPublisher().orElseGet(HttpRequest.BodyPublishers::noBody);
        BodySnapshot snapshot = new BodySnapshot(maxBytes);
        try {
            publisher.subscribe(snapshot);
        } catch (RuntimeException e) {
            // As if it had told its subscriber, which is how it should have failed.
            snapshot.onError(e);
        }
        return snapshot.bytes;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer buffer) {
        if (bytes.isDone()) {
            return;
        }
        if (buffer.remaining() > maxBytes - collected.size()) {
            bytes.completeExceptionally(new TooLarge(maxBytes));
            if (subscription != null) {
                subscription.cancel();
            }
            return;
        }
        byte[] chunk = new byte[buffer.remaining()];
        buffer.get(chunk);
        collected.writeBytes(chunk);
    }

    @Override
    public void onError(Throwable failure) {
        bytes.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        bytes.complete(collected.toByteArray());
    }

    /** The body has more bytes than the client keeps. */
    static final class TooLarge extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        TooLarge(int maxBytes) {
            super("The request's body has more than " + maxBytes + " bytes, the most that are kept for another attempt;"
                    + " nothing was sent. Raise maxBodyBytes if the memory is there");
        }
    }
}
