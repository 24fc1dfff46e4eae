package dev.idempotency.verification.worlds;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Visits every small world, and takes every rule away once. */
final class SmallWorldsTest {
    private final SmallWorlds worlds = SmallWorlds.all();

    @TestFactory
    Stream<DynamicTest> explore_allRulesInForce_nothingIsWrong() {
        return worlds.with(SeededFault.NONE).stream()
                .map(world -> DynamicTest.dynamicTest(world.name(), () -> exploreClean(world)));
    }

    private static void exploreClean(World world) {
        Exploration found = Explorer.explore(world);
        System.out.printf(
                "Small world  %-50s %,9d states, %,9d moves, %,7d ends%n",
                found.world(), found.states(), found.moves(), found.ends());
        assertThat(found.isClean()).as(found.describe()).isTrue();
        assertThat(found.ends()).as("states in which all is over").isPositive();
    }

    @TestFactory
    Stream<DynamicTest> explore_ruleTakenAway_isFound() {
        return Arrays.stream(SeededFault.values())
                .filter(fault -> fault != SeededFault.NONE)
                .map(fault -> DynamicTest.dynamicTest(fault.name(), () -> exploreSeeded(fault)));
    }

    private void exploreSeeded(SeededFault fault) {
        Exploration found = Explorer.explore(worlds.finding(fault));
        Rule rule = fault.rule();
        System.out.printf(
                "Rule taken away  %-6s %s%n    found by  %s%n",
                rule == null ? "outbox" : rule, fault.text(), found.describe().replace("\n", "\n    "));
        assertThat(found.isClean())
                .as(fault + " must be found by " + found.world())
                .isFalse();
        assertThat(found.schedule()).isNotEmpty();
    }

    @Test
    void seededFaults_coverEveryRule() {
        Set<Rule> covered = EnumSet.noneOf(Rule.class);
        for (SeededFault fault : SeededFault.values()) {
            if (fault.rule() != null) {
                covered.add(fault.rule());
            }
        }
        assertThat(covered).containsExactlyInAnyOrder(Rule.values());
    }
}
