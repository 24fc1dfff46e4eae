package dev.idempotency.jdbi;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs a contract on a store that is broken on purpose, and tells which of its tests noticed. */
final class ContractRun {
    private ContractRun() {}

    /** Returns which of the named tests of a contract fail, each run on an instance of its own. */
    static Set<String> failures(Supplier<Object> contract, String... tests) {
        Set<String> failures = new TreeSet<>();
        for (String test : tests) {
            Object instance = contract.get();
            try {
                invokeAll(instance, BeforeEach.class);
                invoke(instance, find(instance, test));
            } catch (AssertionError | RuntimeException noticed) {
                failures.add(test);
            } finally {
                invokeAll(instance, AfterEach.class);
            }
        }
        return failures;
    }

    private static Method find(Object instance, String test) {
        return annotated(instance, Test.class).stream()
                .filter(method -> method.getName().equals(test))
                .findFirst()
                .orElseThrow(() -> new LinkageError("The contract has no test " + test));
    }

    private static void invokeAll(Object instance, Class<? extends Annotation> annotation) {
        annotated(instance, annotation).forEach(method -> invoke(instance, method));
    }

    private static List<Method> annotated(Object instance, Class<? extends Annotation> annotation) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> type = instance.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.isAnnotationPresent(annotation)) {
                    methods.add(method);
                }
            }
        }
        return methods;
    }

    private static void invoke(Object instance, Method method) {
        try {
            method.setAccessible(true);
            method.invoke(instance);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
