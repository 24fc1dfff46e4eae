package dev.idempotency;

import java.util.Arrays;
import java.util.Objects;

/**
 * Where a key is valid: one tenant's, one caller's, one operation's.
 *
 * <p>The same key in two scopes names two operations that know nothing of each other. The parts are hashed with their
 * lengths and so cannot run into each other (DESIGN rule T11).
 *
 * @param tenant the tenant's stable name, or the empty string where there are no tenants; at most 1,024 characters
 * @param caller whose keys these are
 * @param operation the operation's stable name, for instance {@code POST /orders} or {@code charge}; 1 to 4,096
 *     characters; renaming it separates repeats from their first attempt
 */
public record Scope(String tenant, Caller caller, String operation) {
    private static final String LAYOUT = "scope-1";

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if the operation is blank or a part is too long
     */
    public Scope {
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(caller, "caller");
        Objects.requireNonNull(operation, "operation");
        if (tenant.length() > 1024) {
            throw new IllegalArgumentException(
                    "A tenant's name has at most 1024 characters, but this one has " + tenant.length());
        }
        if (operation.isBlank() || operation.length() > 4096) {
            throw new IllegalArgumentException(
                    "An operation's name has 1 to 4096 characters, but this one has " + operation.length());
        }
    }

    /**
     * Returns the scope in which every caller of the operation shares its keys, without a tenant.
     *
     * @param operation the operation's stable name
     * @return the scope
     */
    public static Scope shared(String operation) {
        return new Scope("", new Caller.Shared(), operation);
    }

    /**
     * Returns the scope of callers whose identity is not known, without a tenant.
     *
     * @param operation the operation's stable name
     * @return the scope
     */
    public static Scope anonymous(String operation) {
        return new Scope("", new Caller.Anonymous(), operation);
    }

    /**
     * Returns the scope of one principal, without a tenant.
     *
     * @param principal the principal's stable name
     * @param operation the operation's stable name
     * @return the scope
     */
    public static Scope ofPrincipal(String principal, String operation) {
        return new Scope("", new Caller.Principal(principal), operation);
    }

    /**
     * Returns this scope within a tenant.
     *
     * @param name the tenant's stable name
     * @return the scope with that tenant
     */
    public Scope withTenant(String name) {
        return new Scope(name, caller, operation);
    }

    /**
     * Returns 32 bytes that stand for the whole scope; stores use them in the unique key.
     *
     * @return a new array
     */
    public byte[] digest() {
        return Digests.sha256(LAYOUT, tenant, callerKind(), callerName(), operation);
    }

    /**
     * Returns 16 bytes that stand for tenant and caller over all operations; stores use them to find all answers of one
     * caller.
     *
     * @return a new array
     */
    public byte[] callerDigest() {
        return Arrays.copyOf(Digests.sha256(LAYOUT, tenant, callerKind(), callerName()), 16);
    }

    private String callerKind() {
        if (caller instanceof Caller.Principal) {
            return "principal";
        }
        return caller instanceof Caller.Anonymous ? "anonymous" : "shared";
    }

    private String callerName() {
        return caller instanceof Caller.Principal principal ? principal.name() : "";
    }
}
