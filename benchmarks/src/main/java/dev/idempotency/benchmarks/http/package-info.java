/**
 * What the filter costs over a real socket, against the same servlet with a transaction of its own; {@link
 * dev.idempotency.benchmarks.http.HttpSuite} is the suite.
 */
@NullMarked
package dev.idempotency.benchmarks.http;

import org.jspecify.annotations.NullMarked;
