package dev.idempotency.verification.matrix;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How a case ended.
 *
 * @param of the case
 * @param replies what the clients were told, in order
 * @param violation what is wrong; empty if nothing is
 * @param took how long it took
 */
record Verdict(Case of, List<Reply> replies, Optional<String> violation, Duration took) {
    String describe() {
        return of.text() + ": "
                + violation.orElse("in order")
                + replies.stream().map(reply -> "\n    " + reply.format()).collect(Collectors.joining());
    }

    /** A line of the table: case, outcome, time. */
    String line() {
        String outcome = violation.map(wrong -> "WRONG: " + wrong).orElseGet(() -> kinds());
        return "%-44s %-12s %-26s %-34s %6d ms"
                .formatted(of.subject(), of.crash(), of.step(), outcome, took.toMillis());
    }

    private String kinds() {
        long again = replies.stream().filter(reply -> !reply.isFinal()).count();
        String rest = replies.stream()
                .filter(Reply::isFinal)
                .map(reply -> reply.kind().name())
                .collect(Collectors.joining(" "));
        return again == 0 ? rest : "AGAIN x" + again + " " + rest;
    }
}
