package dev.idempotency.benchmarks.harness;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Forms of the same work that run in turn, so that what disturbs the machine disturbs all of them.
 *
 * @param name what reports call it
 * @param forms the forms, in the order of their turns
 * @param figures what is reported of them
 */
public record Contest(String name, List<Form> forms, List<Figure> figures) {
    /**
     * Checks that names are used once, and only those of forms.
     *
     * @throws IllegalArgumentException if not
     */
    public Contest {
        forms = List.copyOf(forms);
        figures = List.copyOf(figures);
        Set<String> names = new HashSet<>();
        for (Form form : forms) {
            if (!names.add(form.name())) {
                throw new IllegalArgumentException("The contest " + name + " has two forms named " + form.name());
            }
        }
        for (Figure figure : figures) {
            String baseline = figure.baseline();
            if (!names.contains(figure.form()) || (baseline != null && !names.contains(baseline))) {
                throw new IllegalArgumentException(
                        "The contest " + name + " has no such forms: " + figure.form() + ", " + baseline);
            }
        }
    }
}
