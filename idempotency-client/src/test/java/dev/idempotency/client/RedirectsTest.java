package dev.idempotency.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedirectsTest {
    @ParameterizedTest
    @CsvSource({
        // location, to the same origin, anywhere
        "/b?x=1, true, true",
        "https://shop.example/b, true, true",
        "https://SHOP.example:443/b, true, true",
        "https://shop.example:8443/b, false, true",
        "https://pay.example/b, false, true",
        "//pay.example/b, false, true",
        "http://shop.example/b, false, false",
        "http://pay.example/b, false, false",
        "ftp://shop.example/b, false, false",
        "mailto:a@b, false, false",
        "https:///b, false, false",
        "'::', false, false"
    })
    void target_fromHttps(String location, boolean sameOrigin, boolean anywhere) {
        URI from = URI.create("https://shop.example/a");
        assertThat(leads(Redirects.NEVER, 307, location, from)).isFalse();
        assertThat(leads(Redirects.SAME_ORIGIN, 307, location, from)).isEqualTo(sameOrigin);
        assertThat(leads(Redirects.SAME_ORIGIN, 308, location, from)).isEqualTo(sameOrigin);
        assertThat(leads(Redirects.ANYWHERE, 308, location, from)).isEqualTo(anywhere);
        assertThat(leads(Redirects.ANYWHERE, 302, location, from)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"http://pay.example/b", "https://pay.example/b"})
    void target_fromHttp_mayLeadToEither(String location) {
        assertThat(leads(Redirects.ANYWHERE, 307, location, URI.create("http://shop.example/a")))
                .isTrue();
    }

    private static boolean leads(Redirects redirects, int status, String location, URI from) {
        HttpHeaders headers = HttpHeaders.of(Map.of("Location", List.of(location)), (name, value) -> true);
        return redirects.target(status, headers, from, 0).isPresent();
    }
}
