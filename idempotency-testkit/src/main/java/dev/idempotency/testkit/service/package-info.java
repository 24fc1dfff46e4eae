/**
 * Real services inside the test's own virtual machine: a Kafka broker by {@link
 * dev.idempotency.testkit.service.EmbeddedKafka}.
 */
@NullMarked
package dev.idempotency.testkit.service;

import org.jspecify.annotations.NullMarked;
