package dev.idempotency.servlet;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Authenticates whoever the header {@code X-User} names, before the filter under test. */
final class UserFilter extends HttpFilter {
    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        String user = request.getHeader("X-User");
        chain.doFilter(user == null ? request : new Authenticated(request, user), response);
    }

    private static final class Authenticated extends HttpServletRequestWrapper {
        private final Principal user;

        Authenticated(HttpServletRequest request, String name) {
            super(request);
            this.user = () -> name;
        }

        @Override
        public @Nullable Principal getUserPrincipal() {
            return user;
        }
    }
}
