package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class IntentsTest {
    @Test
    void of_givesThatManyAndEnds() {
        Intents intents = Intents.of(2, new SplittableRandom(7));

        assertThat(intents.next()).map(Intent::number).contains(1);
        assertThat(intents.haveEnded()).isFalse();
        assertThat(intents.next()).map(Intent::number).contains(2);
        assertThat(intents.haveEnded()).isTrue();
        assertThat(intents.next()).isEmpty();
        assertThat(intents.drawn()).hasSize(2);
    }

    @Test
    void until_endsWhenItIsOverAndStaysSo() {
        AtomicBoolean over = new AtomicBoolean();
        Intents intents = Intents.until(over::get, new SplittableRandom(7));
        intents.next();

        over.set(true);
        assertThat(intents.next()).isEmpty();
        over.set(false);

        assertThat(intents.haveEnded()).isTrue();
        assertThat(intents.next()).isEmpty();
        assertThat(intents.count()).isEqualTo(1);
    }

    @Test
    void sameSeed_sameIntents() {
        Intents one = Intents.of(1, new SplittableRandom(7));
        Intents other = Intents.of(1, new SplittableRandom(7));

        assertThat(one.next()).isEqualTo(other.next());
    }
}
