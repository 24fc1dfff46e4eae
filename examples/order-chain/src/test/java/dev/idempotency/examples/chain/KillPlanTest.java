package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.chain.KillPlan.PlannedKill;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class KillPlanTest {
    @Test
    void draw_sameSeed_samePlan() {
        assertThat(KillPlan.draw(12, 500, new SplittableRandom(7)))
                .isEqualTo(KillPlan.draw(12, 500, new SplittableRandom(7)));
        assertThat(KillPlan.draw(12, 500, new SplittableRandom(7)))
                .isNotEqualTo(KillPlan.draw(12, 500, new SplittableRandom(8)));
    }

    @Test
    void draw_signalsInTurn_eachServiceGetsBoth() {
        List<PlannedKill> kills = KillPlan.draw(4, 200, new SplittableRandom(7)).kills();

        assertThat(kills)
                .extracting(PlannedKill::signal)
                .containsExactly(Signal.SIGKILL, Signal.SIGTERM, Signal.SIGKILL, Signal.SIGTERM);
        assertThat(kills)
                .extracting(PlannedKill::service)
                .containsExactly(ServiceName.ORDERS, ServiceName.BILLING, ServiceName.BILLING, ServiceName.ORDERS);
    }

    @Test
    void draw_instants_areInOrderAndWithinTheLoad() {
        List<PlannedKill> kills =
                KillPlan.draw(100, 200, new SplittableRandom(7)).kills();

        assertThat(kills).extracting(PlannedKill::after).isSorted().allMatch(answers -> answers < 200);
    }
}
