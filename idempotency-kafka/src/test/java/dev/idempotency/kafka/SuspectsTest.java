package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.kafka.Suspects.Route;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SuspectsTest {
    private static final String TOPIC = "orders";

    private final Suspects suspects = new Suspects();
    private final UUID bad = new UUID(0, 1);
    private final UUID good = new UUID(0, 2);

    @Test
    void begin_nobodySuspected_together() {
        assertThat(suspects.begin(TOPIC, bad)).isEqualTo(Route.TOGETHER);
        assertThat(suspects.begin(TOPIC, good)).isEqualTo(Route.TOGETHER);
    }

    /** The earlier one could be of the suspect's key, and would be overtaken. */
    @Test
    void begin_suspectWhileOthersAreUnderWay_later() {
        suspects.suspect(TOPIC, bad);
        suspects.begin(TOPIC, good);
        assertThat(suspects.begin(TOPIC, bad)).isEqualTo(Route.LATER);
        suspects.end(TOPIC, Route.LATER);
        assertThat(suspects.begin("other", good)).isEqualTo(Route.TOGETHER);

        suspects.end(TOPIC, Route.TOGETHER);
        assertThat(suspects.begin(TOPIC, bad)).isEqualTo(Route.ALONE);
    }

    /** A later one of the suspect's key would overtake it. */
    @Test
    void begin_othersWhileASuspectIsUnderWay_alone() {
        suspects.suspect(TOPIC, bad);
        assertThat(suspects.begin(TOPIC, bad)).isEqualTo(Route.ALONE);
        assertThat(suspects.begin(TOPIC, good)).isEqualTo(Route.ALONE);

        suspects.clear(TOPIC, bad);
        suspects.end(TOPIC, Route.ALONE);
        assertThat(suspects.begin(TOPIC, good)).isEqualTo(Route.ALONE);

        suspects.end(TOPIC, Route.ALONE);
        suspects.end(TOPIC, Route.ALONE);
        assertThat(suspects.begin(TOPIC, bad)).isEqualTo(Route.TOGETHER);
    }

    @Test
    void suspect_moreThanAreKept_saysSo() {
        for (int number = 0; number < 10_000; number++) {
            assertThat(suspects.suspect(TOPIC, new UUID(1, number))).isTrue();
        }
        assertThat(suspects.suspect(TOPIC, bad)).isFalse();
        suspects.clear(TOPIC, new UUID(1, 0));
        assertThat(suspects.suspect(TOPIC, bad)).isTrue();
    }
}
