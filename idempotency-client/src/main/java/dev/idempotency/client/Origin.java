package dev.idempotency.client;

import java.net.URI;
import java.util.Locale;

/** Scheme, host and port (RFC 6454): whom a key, a credential and a body were meant for. */
record Origin(String scheme, String host, int port) {
    static Origin of(URI uri) {
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        int usual = scheme.equals("https") ? 443 : 80;
        return new Origin(scheme, uri.getHost().toLowerCase(Locale.ROOT), uri.getPort() < 0 ? usual : uri.getPort());
    }

    boolean isSecure() {
        return scheme.equals("https");
    }

    boolean isPlain() {
        return scheme.equals("http");
    }
}
