package dev.idempotency.client;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What arrived as a body. The caller's body handler sees answers only: a body that it turned into an open stream for an
 * attempt that is then repeated would keep its connection for ever.
 */
sealed interface Reception<T extends @Nullable Object> {
    /** Read by the caller's handler. */
    record Read<T extends @Nullable Object>(T body) implements Reception<T> {}

    /** Read to its end here, the beginning kept. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Kept<T extends @Nullable Object>(byte[] beginning) implements Reception<T> {}

    /** Returns a handler that gives answers to the caller's handler and keeps the rest here. */
    static <T extends @Nullable Object> HttpResponse.BodyHandler<Reception<T>> handler(
            HttpResponse.BodyHandler<T> callers, Predicate<HttpResponse.ResponseInfo> isAnswer) {
        return info -> isAnswer.test(info)
                ? BodySubscribers.mapping(callers.apply(info), Read::new)
                : BodySubscribers.mapping(new Beginning(), Kept::new);
    }

    /** Keeps the first bytes and reads the rest away, so that the connection can be used again. */
    final class Beginning implements BodySubscriber<byte[]> {
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                byte[] chunk = new byte[Math.min(buffer.remaining(), CallFailure.Refused.MAX_BODY - kept.size())];
                buffer.get(chunk);
                kept.writeBytes(chunk);
            }
        }

        @Override
        public void onError(Throwable failure) {
            body.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            body.complete(kept.toByteArray());
        }
    }
}
