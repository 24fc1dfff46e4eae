/**
 * Faults injected under real parts: {@link dev.idempotency.testkit.fault.FaultInjectingDataSource} under JDBC code, {@link
 * dev.idempotency.testkit.fault.TcpProxy} under anything that speaks over TCP, {@link dev.idempotency.testkit.fault.Gate} to
 * hold a thread at a point instead of sleeping.
 */
@NullMarked
package dev.idempotency.testkit.fault;

import org.jspecify.annotations.NullMarked;
