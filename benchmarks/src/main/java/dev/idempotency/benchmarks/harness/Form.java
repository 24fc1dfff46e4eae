package dev.idempotency.benchmarks.harness;

/**
 * One way to do the work of a contest.
 *
 * @param name what reports call it
 * @param trial runs it once
 */
public record Form(String name, Trial trial) {}
