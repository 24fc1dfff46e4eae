package dev.idempotency.verification;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.accessTargetWhere;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The rules of the house that no compiler checks, on the main classes of all modules. */
@AnalyzeClasses(packages = "dev.idempotency", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    private static final List<String> ADAPTERS = List.of(
            "dev.idempotency.jdbi..",
            "dev.idempotency.outbox..",
            "dev.idempotency.kafka..",
            "dev.idempotency.servlet..",
            "dev.idempotency.client..");
    private static final String TESTKIT = "dev.idempotency.testkit..";
    private static final String VERIFICATION = "dev.idempotency.verification..";

    /** What is in no other module: a module that is forgotten here is held to the rules of core, and fails them. */
    private static final DescribedPredicate<JavaClass> CORE = resideInAPackage("dev.idempotency..")
            .and(not(resideInAnyPackage(ADAPTERS.toArray(String[]::new))))
            .and(not(resideInAnyPackage(TESTKIT, VERIFICATION)))
            .as("are in core");

    private static final DescribedPredicate<JavaClass> PUBLISHED_FOR_PRODUCTION =
            not(resideInAnyPackage(TESTKIT, VERIFICATION)).as("are published for production");

    private static final DescribedPredicate<JavaClass> PROGRAM = describe(
            "are programs", type -> type.tryGetMethod("main", String[].class).isPresent());

    @ArchTest
    static final ArchRule core_dependsOnSlf4jAndTheJdkOnly = classes()
            .that(CORE)
            .should()
            .onlyDependOnClassesThat(CORE.or(resideInAnyPackage(
                    "java..",
                    "javax.sql..",
                    "javax.xml..",
                    "com.sun.net.httpserver..", // supported API of the JDK, whatever its name looks like
                    "org.slf4j..",
                    "org.jspecify..")))
            .because("whoever adds the core gets one jar and slf4j, and core knows no adapter");

    @ArchTest
    static final ArchRule core_usesNoReflection = noClasses()
            .that(CORE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.lang.reflect..", "java.lang.invoke..")
            .because("what core does must be found by reading it");

    @ArchTest
    static final ArchRule adapters_doNotKnowEachOther = CompositeArchRule.of(ADAPTERS.stream()
            .map(adapter -> (ArchRule) noClasses()
                    .that()
                    .resideInAPackage(adapter)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(Stream.concat(ADAPTERS.stream(), Stream.of(TESTKIT, VERIFICATION))
                            .filter(other -> !other.equals(adapter))
                            .toArray(String[]::new)))
            .toList());

    @ArchTest
    static final ArchRule testkit_knowsNoAdapter = noClasses()
            .that()
            .resideInAPackage(TESTKIT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ADAPTERS.toArray(String[]::new))
            .because("a contract that knows one store is not a contract for others");

    @ArchTest
    static final ArchRule testLibraries_areForTheTestkit = noClasses()
            .that(PUBLISHED_FOR_PRODUCTION)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.junit..", "org.assertj..", "org.awaitility..", "org.opentest4j..");

    @ArchTest
    static final ArchRule packages_areNamedAfterTheirSubject = noClasses()
            .should()
            .resideInAnyPackage("..util..", "..utils..", "..impl..", "..common..", "..helper..", "..model..");

    @ArchTest
    static final ArchRule classes_areNamedAfterTheirSubject = noClasses()
            .should()
            .haveNameMatching(".*(Impl|Manager|Helper|Utils?)")
            .because("such a name fits every class and tells nothing of this one");

    @ArchTest
    static final ArchRule mainCode_neverSleeps = noClasses()
            .should(accessTargetWhere(describe("it is a sleep", ArchitectureTest::sleeps)))
            .because("a sleep can neither be woken nor be driven by a test; wait on a condition with a deadline");

    @ArchTest
    static final ArchRule wallClock_isInjected = noClasses()
            .that(PUBLISHED_FOR_PRODUCTION)
            .should(callMethodWhere(describe("the clock of the machine is read", ArchitectureTest::readsTheWallClock)))
            .because("stores use the database's clock, and everything else a clock from the builder");

    @ArchTest
    static final ArchRule staticState_isImmutable = fields().that()
            .areStatic()
            .and()
            .areDeclaredInClassesThat(not(PROGRAM))
            .should(beImmutable())
            .because("two instances in one JVM must not meet; only a program owns its JVM");

    @ArchTest
    static final ArchRule internalTypes_areNotInPublicSignatures = classes()
            .that()
            .arePublic()
            .and()
            .resideOutsideOfPackage("..internal..")
            .should(exposeNoInternalType());

    @ArchTest
    static final ArchRule publicExceptions_areUnchecked = noClasses()
            .that()
            .arePublic()
            .and()
            .areAssignableTo(Exception.class)
            .should()
            .notBeAssignableTo(RuntimeException.class);

    private ArchitectureTest() {}

    private static boolean sleeps(JavaAccess<?> access) {
        return access.getName().equals("sleep")
                && (access.getTargetOwner().isEquivalentTo(Thread.class)
                        || access.getTargetOwner().isEquivalentTo(TimeUnit.class));
    }

    private static boolean readsTheWallClock(JavaAccess<?> access) {
        JavaClass owner = access.getTargetOwner();
        return (owner.isEquivalentTo(System.class) && access.getName().equals("currentTimeMillis"))
                || (owner.getPackageName().equals("java.time")
                        && !owner.isEquivalentTo(Clock.class)
                        && access.getTarget().getFullName().endsWith(".now()"));
    }

    private static ArchCondition<JavaField> beImmutable() {
        return new ArchCondition<>("be final and of an immutable type") {
            @Override
            public void check(JavaField field, ConditionEvents events) {
                boolean synthetic = field.getModifiers().contains(JavaModifier.SYNTHETIC);
                boolean immutable = field.getModifiers().contains(JavaModifier.FINAL) && !isMutable(field.getRawType());
                if (!synthetic && !immutable) {
                    events.add(SimpleConditionEvent.violated(field, field.getDescription() + " can change"));
                }
            }
        };
    }

    /** List, Set and Map themselves may hold an immutable collection; their implementations are made to be changed. */
    private static boolean isMutable(JavaClass type) {
        boolean collection = type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class);
        boolean value =
                Stream.of(List.class, Set.class, Map.class, Collection.class).anyMatch(type::isEquivalentTo);
        return (collection && !value)
                || type.getPackageName().startsWith("java.util.concurrent.atomic")
                || type.isAssignableTo(ThreadLocal.class);
    }

    private static ArchCondition<JavaClass> exposeNoInternalType() {
        return new ArchCondition<>("expose no type of an internal package") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaClass> inherited =
                        Stream.concat(type.getRawSuperclass().stream(), type.getRawInterfaces().stream());
                Stream<JavaClass> ofMembers = type.getMembers().stream()
                        .filter(ArchitectureTest::isAccessible)
                        .flatMap(member -> member.getAllInvolvedRawTypes().stream());
                Stream.concat(inherited, ofMembers)
                        .map(JavaClass::getBaseComponentType)
                        .filter(resideInAPackage("dev.idempotency..internal.."))
                        .distinct()
                        .forEach(exposed -> events.add(SimpleConditionEvent.violated(
                                type,
                                type.getName() + " exposes " + exposed.getName() + " "
                                        + type.getSourceCodeLocation())));
            }
        };
    }

    private static boolean isAccessible(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }
}
