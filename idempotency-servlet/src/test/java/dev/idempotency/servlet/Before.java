package dev.idempotency.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Another filter of the application, directly before the one under test. */
record Before(Filter filter, Step step) implements Filter {
    /** What the other filter does. */
    @FunctionalInterface
    interface Step {
        void run(ServletRequest request, HttpServletResponse response, Next next) throws IOException, ServletException;
    }

    /** The filter under test and all that comes after it. */
    @FunctionalInterface
    interface Next {
        void proceed(ServletRequest request) throws IOException, ServletException;
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        filter.init(config);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        step.run(request, (HttpServletResponse) response, passed -> filter.doFilter(passed, response, chain));
    }
}
