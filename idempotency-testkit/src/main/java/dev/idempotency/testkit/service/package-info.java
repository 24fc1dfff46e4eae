/**
 * Real services for tests, started by the test itself: {@link dev.idempotency.testkit.service.EmbeddedPostgreSql} and {@link dev.idempotency.testkit.service.EmbeddedMariaDb} give a
 * database to each test class from one server per virtual machine, {@link dev.idempotency.testkit.service.EmbeddedKafka} is
 * a broker inside the test's own virtual machine.
 */
@NullMarked
package dev.idempotency.testkit.service;

import org.jspecify.annotations.NullMarked;
