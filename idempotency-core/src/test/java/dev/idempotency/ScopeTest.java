package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScopeTest {
    /** Pairs that a delimiter, a fold, a trim or an encoding could make equal. */
    @Test
    void digest_differsForEveryTwoScopes() {
        List<Scope> scopes = List.of(
                Scope.shared("op"),
                Scope.anonymous("op"),
                Scope.ofPrincipal("op", "op"),
                Scope.ofPrincipal("a", "bc"),
                Scope.ofPrincipal("ab", "c"),
                Scope.ofPrincipal("A", "bc"),
                Scope.ofPrincipal("a ", "bc"),
                Scope.ofPrincipal("?", "op"),
                Scope.ofPrincipal("\ud800", "op"),
                Scope.ofPrincipal("\udbff", "op"),
                Scope.ofPrincipal("\udc00", "op"));
        Set<String> digests = new HashSet<>();
        for (Scope scope : scopes) {
            assertThat(digests.add(HexFormat.of().formatHex(scope.digest())))
                    .as("the digest of %s is new", scope)
                    .isTrue();
        }
    }
}
