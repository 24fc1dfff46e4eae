package dev.idempotency.verification.matrix;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** One key on its way through one case: where it is, and what its clients have been told. */
final class Trial {
    private final String key;
    private final Site site;
    private final Bench bench;
    private final Optional<Case> of;
    private final DataSource database;
    private final List<Reply> replies = new ArrayList<>();

    Trial(String key, Site site, Bench bench, Optional<Case> of) {
        this.key = key;
        this.site = site;
        this.bench = bench;
        this.of = of;
        this.database = site.outside();
    }

    String key() {
        return key;
    }

    Site site() {
        return site;
    }

    Bench bench() {
        return bench;
    }

    /** The database by the way on which nothing happens. */
    DataSource database() {
        return database;
    }

    /** Whether this case crashes at this step, in one of these ways. */
    boolean crashedAt(String step, Crash... ways) {
        return of.filter(one -> one.step().equals(step) && List.of(ways).contains(one.crash()))
                .isPresent();
    }

    void heard(Reply reply) {
        replies.add(reply);
    }

    boolean isAcknowledged() {
        return replies.stream().anyMatch(Reply::isAcknowledged);
    }

    long count(Reply.Kind kind) {
        return replies.stream().filter(reply -> reply.kind() == kind).count();
    }

    List<Reply> replies() {
        return List.copyOf(replies);
    }
}
