package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class TopicIdsTest {
    private static UUID id(String topic, Uuid told) {
        return TopicIds.id(new TopicDescription(topic, false, List.of(), Set.of(), told));
    }

    @Test
    void id_brokerTellsOne_isTaken() {
        Uuid told = new Uuid(7, 9);

        assertThat(id("orders", told)).isEqualTo(new UUID(7, 9)).isEqualTo(id("renamed", told));
    }

    /** Otherwise partition 0 of one topic would go on where partition 0 of the other is. */
    @Test
    void id_brokerKnowsNone_isTheNames() {
        UUID orders = id("orders", Uuid.ZERO_UUID);

        assertThat(orders).isEqualTo(id("orders", Uuid.ZERO_UUID)).isNotEqualTo(id("payments", Uuid.ZERO_UUID));
    }
}
