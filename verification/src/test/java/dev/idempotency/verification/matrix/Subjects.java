package dev.idempotency.verification.matrix;

import dev.idempotency.Protection;
import dev.idempotency.event.Deduplication;
import dev.idempotency.event.TransactionScope;
import dev.idempotency.spi.AbandonedPolicy;
import java.util.ArrayList;
import java.util.List;

/** What the matrix is about. */
final class Subjects {
    private Subjects() {}

    static List<Subject> all() {
        List<Subject> subjects = new ArrayList<>();
        for (Dialect dialect : Dialect.values()) {
            subjects.add(new OperationSubject(Protection.TRANSACTIONAL, AbandonedPolicy.REPORT_UNKNOWN, dialect));
            for (AbandonedPolicy policy : AbandonedPolicy.values()) {
                subjects.add(new OperationSubject(Protection.LEASED, policy, dialect));
            }
            for (Protection protection : Protection.values()) {
                subjects.add(new FilterSubject(protection, dialect));
            }
            for (Deduplication deduplication : Deduplication.values()) {
                for (TransactionScope scope : TransactionScope.values()) {
                    subjects.add(new EventSubject(deduplication, scope, dialect));
                }
            }
        }
        for (RelaySubject.Mode mode : RelaySubject.Mode.values()) {
            subjects.add(new RelaySubject(mode));
        }
        for (Deduplication deduplication : Deduplication.values()) {
            subjects.add(new ConsumerSubject(deduplication));
        }
        return subjects;
    }

    static Subject named(String name) {
        return all().stream()
                .filter(subject -> subject.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("There is no subject \"" + name + "\""));
    }

    /** All cases: each subject at each step with each kind of crash that makes a difference there. */
    static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (Subject subject : all()) {
            for (Crash crash : Crash.values()) {
                subject.steps(crash).forEach(step -> cases.add(new Case(subject, step, crash, Mutant.NONE)));
            }
        }
        return cases;
    }
}
