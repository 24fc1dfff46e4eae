package dev.idempotency.servlet;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** What one test lets the service do with a request. */
@FunctionalInterface
interface Handler {
    void handle(HttpServletRequest request, HttpServletResponse response) throws Exception;
}
