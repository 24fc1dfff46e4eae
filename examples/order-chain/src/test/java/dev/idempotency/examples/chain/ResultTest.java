package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.chain.Timeline.Incident;
import dev.idempotency.examples.chain.Timeline.Kill;
import dev.idempotency.examples.chain.service.ServiceSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ResultTest {
    private static final Figures FLAWLESS = new Figures(3, 3, 3, 3, 0, 0, List.of());
    private static final Options SOAK = new SoakOptions(1, 8, 7, null);

    @Test
    void good_everyServiceEndedInTime_isGood() {
        Kill atTheLimit = new Kill(ServiceName.ORDERS, Signal.SIGTERM, 1_000, 8_000, 0, 143);
        Kill slowButStopped = new Kill(ServiceName.BILLING, Signal.SIGTERM, 1_000, 13_000, 5_000, 143);
        Kill notAsked = new Kill(ServiceName.BILLING, Signal.SIGKILL, 1_000, 60_000, 0, 137);

        Result result = result(FLAWLESS, SOAK, List.of(atTheLimit, slowButStopped, notAsked), List.of());

        assertThat(result.good()).isTrue();
        assertThat(result.stopMillis()).containsExactly(7_000L, 7_000L);
    }

    @Test
    void good_serviceTookLongerThanItsGraceAndASecond_isNot() {
        Kill late = new Kill(ServiceName.BILLING, Signal.SIGTERM, 1_000, 13_001, 5_000, 143);

        Result result = result(FLAWLESS, SOAK, List.of(late), List.of());

        assertThat(result.good()).isFalse();
        assertThat(result.defects())
                .containsExactly("the billing service took 7001 ms from SIGTERM to its end, 7000 ms are allowed");
    }

    /** It may have been in time, and still nothing was finished. */
    @Test
    void good_serviceWasHaltedByItsWatchdog_isNot() {
        Kill halted = new Kill(ServiceName.ORDERS, Signal.SIGTERM, 1_000, 7_000, 0, ServiceSettings.HALTED);

        Result result = result(FLAWLESS, SOAK, List.of(halted), List.of());

        assertThat(result.good()).isFalse();
        assertThat(result.defects())
                .containsExactly("the order service did not end by itself after SIGTERM and was halted");
    }

    @Test
    void good_duplicateOrLoss_isNot() {
        Figures flawed = new Figures(3, 3, 3, 3, 1, 0, List.of("charged twice"));

        assertThat(result(flawed, SOAK, List.of(), List.of()).good()).isFalse();
    }

    @Test
    void line_ofTheSoak_isThatOfTheDemoAndTheFaultsByKind() {
        List<Kill> kills = List.of(
                new Kill(ServiceName.ORDERS, Signal.SIGTERM, 1, 2, 0, 143),
                new Kill(ServiceName.ORDERS, Signal.SIGKILL, 1, 2, 0, 137),
                new Kill(ServiceName.ORDERS, Signal.SIGKILL, 1, 2, 0, 137));
        List<Incident> incidents = List.of(
                new Incident(Fault.BROKER, "", 1, 2),
                new Incident(Fault.CLOCK, "", 1, 2),
                new Incident(Fault.CLOCK, "", 1, 2));
        String common = "RESULT guard=on orders=3 intents=3 charges=3 duplicates=0 lost=0 kills=3 replays=0 seconds=60";

        assertThat(result(FLAWLESS, SOAK, kills, incidents).line())
                .isEqualTo(common + " sigkill=2 sigterm=1 sigstop=0 backend=0 statement=0 broker=1 clock=2");
        assertThat(result(FLAWLESS, new DemoOptions(3, 8, 3, 7, true, null), kills, List.of())
                        .line())
                .isEqualTo(common);
    }

    private static Result result(Figures figures, Options options, List<Kill> kills, List<Incident> incidents) {
        return new Result(
                options,
                figures,
                3,
                3,
                List.of(),
                List.of(),
                List.of(),
                kills,
                incidents,
                Duration.ofSeconds(6),
                0,
                Duration.ofSeconds(60));
    }
}
