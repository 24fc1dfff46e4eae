package dev.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a servlet or a method whose repeats must get the first answer instead of running again.
 *
 * <p>The annotation does nothing by itself: an adapter reads it (the servlet filter on a servlet's class, an interceptor
 * on a method). On a class it applies to every method that handles a request with a key.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Idempotent {
    /**
     * The operation's stable name, part of the {@link Scope}.
     *
     * @return the name; when empty, the adapter's default (for HTTP, the method and the concrete path)
     */
    String operation() default "";

    /**
     * How the key protects the work.
     *
     * @return the protection; {@link Protection#TRANSACTIONAL} unless set
     */
    Protection protection() default Protection.TRANSACTIONAL;

    /**
     * Whether a call without a key is refused.
     *
     * @return true (the default) to refuse it; false to run it without protection
     */
    boolean keyRequired() default true;

    /**
     * How long the answer is kept, counted from the claim.
     *
     * @return an ISO-8601 duration such as {@code PT24H}; when empty, the adapter's default
     */
    String retention() default "";
}
