package dev.idempotency.client.spring;

import dev.idempotency.client.KeyPolicy;
import dev.idempotency.client.KeyedCall;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.client.RequestCallback;

/**
 * Puts the operation's key on each request of a {@code RestClient} or {@code RestTemplate} that is not safe; applications
 * register one per provider.
 *
 * <p>The key comes with the request, as a {@link KeyedCall} that was made before the first attempt: by {@link
 * #under(KeyedCall)} with a {@code RestClient}, by {@link #under(KeyedCall, RequestCallback)} with a {@code RestTemplate}. A
 * request without one must have the key's header already, which stays as it is; one with neither is refused and not sent. An
 * attempt with other bytes, or elsewhere, than the first under the same call is refused too, and so is one that comes when the
 * provider may have forgotten the key.
 *
 * <p>It never sends a request again: whoever repeats does so around the whole call, with the same {@code KeyedCall}, and
 * asks {@link KeyPolicy#advise} whether that is right. The response passes untouched, streamed if it was. As with every
 * interceptor, Spring holds the request's body in memory.
 *
 * <p>The request factory must not follow redirects, because key and body would go along, to other places too: make it over an
 * {@code HttpClient} that never does. Those that Spring Boot makes follow them unless {@code
 * spring.http.client.redirects=dont-follow} is set ({@code spring.http.clients.redirects} from Boot 4 on), and this class cannot
 * see it.
 *
 * <p>No other interceptor may send a request again, wherever it stands: it would do so past the checks of age, bytes and place.
 * Safe for use by many threads; nothing of one call is kept for the next.
 */
public final class IdempotencyKeyInterceptor implements ClientHttpRequestInterceptor {
    private static final String ATTRIBUTE = KeyedCall.class.getName();

    private final KeyPolicy policy;

    private IdempotencyKeyInterceptor(KeyPolicy policy) {
        this.policy = Objects.requireNonNull(policy, "policy");
    }

    /**
     * Returns the interceptor for a provider.
     *
     * @param policy the provider's rules; the calls are made by the same or an equal one
     * @return the interceptor
     */
    public static IdempotencyKeyInterceptor of(KeyPolicy policy) {
        return new IdempotencyKeyInterceptor(policy);
    }

    /**
     * Says under which call a request of a {@code RestClient} is sent: {@code restClient.post().attributes(under(call))}.
     *
     * @param call the operation's call
     * @return for {@code attributes}
     */
    public static Consumer<Map<String, Object>> under(KeyedCall call) {
        Objects.requireNonNull(call, "call");
        return attributes -> attributes.put(ATTRIBUTE, call);
    }

    /**
     * Says under which call a request of a {@code RestTemplate} is sent: {@code template.execute(uri, POST, under(call,
     * template.httpEntityCallback(body, Receipt.class)), template.responseEntityExtractor(Receipt.class))}.
     *
     * @param call the operation's call
     * @param request writes the request
     * @return for {@code execute}
     */
    public static RequestCallback under(KeyedCall call, RequestCallback request) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(request, "request");
        return sent -> {
            sent.getAttributes().put(ATTRIBUTE, call);
            request.doWithRequest(sent);
        };
    }

    /**
     * Puts the key on the request and sends it, once.
     *
     * @param request the request
     * @param body its bytes
     * @param execution sends it
     * @return the response, as it comes
     * @throws IOException what the sending met
     * @throws IllegalArgumentException if the request has no key, another one, or asks for something else than the first attempt
     *     under its call; nothing was sent
     * @throws dev.idempotency.client.KeyTooOldException if the provider may have forgotten the key; nothing was sent
     */
    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        String method = request.getMethod().name();
        HttpHeaders headers = request.getHeaders();
        String name = policy.format().headerName();
        List<String> present = headers.getOrEmpty(name);
        if (request.getAttributes().get(ATTRIBUTE) instanceof KeyedCall call) {
            requireSameProvider(call);
            call.beginAttempt(method, request.getURI(), present, body).ifPresent(value -> headers.set(name, value));
        } else {
            policy.requireKey(method, present);
        }
        return execution.execute(request, body);
    }

    private void requireSameProvider(KeyedCall call) {
        if (!call.policy().format().equals(policy.format())) {
            throw new IllegalArgumentException("The call was made for another provider, one with the header "
                    + call.policy().format().headerName() + ", and is sent to the one with "
                    + policy.format().headerName() + ": make it by the policy of this interceptor");
        }
    }
}
