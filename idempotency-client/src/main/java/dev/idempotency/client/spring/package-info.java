/**
 * Puts idempotency keys on the requests of Spring's {@code RestClient} and {@code RestTemplate}. Start at {@link
 * dev.idempotency.client.spring.IdempotencyKeyInterceptor}. It needs {@code org.springframework:spring-web} 6.2 or newer.
 */
@NullMarked
package dev.idempotency.client.spring;

import org.jspecify.annotations.NullMarked;
