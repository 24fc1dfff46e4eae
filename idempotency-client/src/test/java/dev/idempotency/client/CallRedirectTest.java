package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.fault.Gate;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Redirects: which are followed, and what is left behind. */
class CallRedirectTest extends ClientFixture {
    @Test
    void redirect_notFollowedByDefault() throws Exception {
        provider.then(Provider.status(307, "Location", "/other"));
        assertAnswered(post(), 307, 1);
    }

    @Test
    void redirect_sameOrigin_keepsKeyAndBody() throws Exception {
        use(quick().redirects(Redirects.SAME_ORIGIN));
        provider.then(Provider.status(308, "Location", "/other")).then(Provider.actThenDrop());
        assertAnswered(post(), 201, 2);
        assertOneKeyAndEqualBytes(3);
        assertThat(provider.received)
                .extracting(received -> received.uri().getPath())
                .containsExactly("/charges", "/other", "/charges");
    }

    @Test
    void redirect_otherOrigin_isTheAnswerUnlessAllowed() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.SAME_ORIGIN));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            assertAnswered(post(), 307, 1);
            assertThat(other.received).isEmpty();
        }
    }

    @Test
    void redirect_otherOriginAllowed_losesKeyAndCredentials_isNeverRepeated() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then(Provider.actThenDrop());
            HttpRequest request = HttpRequest.newBuilder(request(), (name, value) -> true)
                    .header("Authorization", "Bearer secret")
                    .header("Cookie", "a=b")
                    .header("X-Kept", "yes")
                    .build();
            CallOutcome<String> outcome = client.send(request, KEY, BodyHandlers.ofString());
            assertUnknown(outcome, GiveUp.REDIRECTED, 1);
            assertThat(other.received).singleElement().satisfies(received -> {
                assertThat(received.keys()).isEmpty();
                assertThat(received.headers().containsKey("Authorization")).isFalse();
                assertThat(received.headers().containsKey("Cookie")).isFalse();
                assertThat(received.headers().getFirst("X-Kept")).isEqualTo("yes");
                assertThat(received.body()).isEqualTo("amount=10");
            });
        }
    }

    @Test
    void redirect_otherOriginTimesOut_isNeverRepeated() throws Exception {
        Gate gate = new Gate();
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE).attemptTimeout(Duration.ofSeconds(1)));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then((p, exchange, request) -> gate.pass());
            assertUnknown(post(), GiveUp.REDIRECTED, 1);
            gate.open();
            assertThat(other.received).hasSize(1);
        }
    }

    @Test
    void redirect_backHome_staysWithoutKey() throws Exception {
        try (Provider other = new Provider()) {
            use(quick().redirects(Redirects.ANYWHERE));
            provider.then(Provider.status(307, "Location", other.uri("/x").toString()));
            other.then(Provider.status(307, "Location", provider.uri("/home").toString()));
            assertAnswered(post(), 201, 1);
            assertThat(provider.received.get(1).keys()).isEmpty();
        }
    }

    @Test
    void redirect_endlessly_endsAsAnswer() throws Exception {
        use(quick().redirects(Redirects.SAME_ORIGIN));
        IntStream.range(0, 20).forEach(i -> provider.then(Provider.status(307, "Location", "/again")));
        assertAnswered(post(), 307, 1);
        assertThat(provider.received).hasSize(6);
    }
}
