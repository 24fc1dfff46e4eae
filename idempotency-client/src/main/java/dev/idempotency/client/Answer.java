package dev.idempotency.client;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** The answer as the caller sees it: the exchange's response with the body that the caller's handler read. */
record Answer<T extends @Nullable Object>(HttpResponse<?> exchange, T body) implements HttpResponse<T> {
    @Override
    public int statusCode() {
        return exchange.statusCode();
    }

    @Override
    public HttpRequest request() {
        return exchange.request();
    }

    @Override
    public Optional<HttpResponse<T>> previousResponse() {
        return Optional.empty();
    }

    @Override
    public HttpHeaders headers() {
        return exchange.headers();
    }

    @Override
    public Optional<SSLSession> sslSession() {
        return exchange.sslSession();
    }

    @Override
    public URI uri() {
        return exchange.uri();
    }

    @Override
    public HttpClient.Version version() {
        return exchange.version();
    }

    /** Returns a text for logs: the status, never content. */
    @Override
    public String toString() {
        return "Answer[status=" + statusCode() + "]";
    }
}
