package dev.idempotency.examples.chain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.chain.Database.OrderRow;
import dev.idempotency.examples.chain.PaymentProvider.Charge;
import dev.idempotency.examples.chain.service.ChargeRequest;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The judge is judged: each kind of defect, made on purpose, must be counted. */
final class FiguresTest {
    private static final Intent FIRST = new Intent(1, "key-1", "customer-1", 100, false);
    private static final Intent SECOND = new Intent(2, "key-2", "customer-2", 100, false);
    private static final UUID ORDER = new UUID(0, 1);
    private static final UUID OTHER = new UUID(0, 2);

    @Test
    void count_everythingOnce_isGood() {
        Figures figures = count(
                List.of(FIRST, SECOND),
                answers(FIRST, ORDER, SECOND, OTHER),
                List.of(row(ORDER, FIRST), row(OTHER, SECOND)),
                List.of(charge("a", ORDER), charge("b", OTHER)),
                List.of(ORDER, OTHER));

        assertThat(figures.good()).isTrue();
        assertThat(figures.orders()).isEqualTo(2);
        assertThat(figures.charges()).isEqualTo(2);
        assertThat(figures.defects()).isEmpty();
    }

    @Test
    void count_twoOrdersOfOneIntent_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST), row(OTHER, FIRST)),
                List.of(charge("a", ORDER), charge("b", OTHER)),
                List.of(ORDER, OTHER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_twoChargesOfOneOrder_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER), charge("b", ORDER)),
                List.of(ORDER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_twoInvoicesOfOneOrder_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER)),
                List.of(ORDER, ORDER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_chargeWithoutOrder_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER), charge("b", OTHER)),
                List.of(ORDER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_noOrder_isLost() {
        assertDefects(count(List.of(FIRST), new Answers(), List.of(), List.of(), List.of()), 0, 1);
    }

    @Test
    void count_answeredWithOrderThatDoesNotExist_isLost() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, OTHER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER)),
                List.of(ORDER));

        assertDefects(figures, 0, 1);
    }

    @Test
    void count_neverAnswered_isLost() {
        Figures figures = count(
                List.of(FIRST), new Answers(), List.of(row(ORDER, FIRST)), List.of(charge("a", ORDER)), List.of(ORDER));

        assertDefects(figures, 0, 1);
    }

    @Test
    void count_noCharge_isLost() {
        Figures figures =
                count(List.of(FIRST), answers(FIRST, ORDER), List.of(row(ORDER, FIRST)), List.of(), List.of(ORDER));

        assertDefects(figures, 0, 1);
    }

    @Test
    void count_noInvoice_isLost() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER)),
                List.of());

        assertDefects(figures, 0, 1);
    }

    @Test
    void count_answeredWithTheOrderOfAnother_isLost() {
        Figures figures = count(
                List.of(FIRST, SECOND),
                answers(FIRST, ORDER, SECOND, ORDER),
                List.of(row(ORDER, FIRST), row(OTHER, SECOND)),
                List.of(charge("a", ORDER), charge("b", OTHER)),
                List.of(ORDER, OTHER));

        assertDefects(figures, 0, 1);
    }

    @Test
    void count_orderThatNobodyMeant_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST), row(OTHER, SECOND)),
                List.of(charge("a", ORDER), charge("b", OTHER)),
                List.of(ORDER, OTHER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_invoiceWithoutOrder_isADuplicate() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(charge("a", ORDER)),
                List.of(ORDER, OTHER));

        assertDefects(figures, 1, 0);
    }

    @Test
    void count_wrongAmount_isLost() {
        Figures figures = count(
                List.of(FIRST),
                answers(FIRST, ORDER),
                List.of(row(ORDER, FIRST)),
                List.of(new Charge("charge-a", "a", new ChargeRequest(ORDER, 99))),
                List.of(ORDER));

        assertDefects(figures, 0, 1);
    }

    private static void assertDefects(Figures figures, int duplicates, int lost) {
        assertThat(figures.duplicates()).isEqualTo(duplicates);
        assertThat(figures.lost()).isEqualTo(lost);
        assertThat(figures.good()).isFalse();
        assertThat(figures.defects()).hasSize(duplicates + lost);
    }

    private static Figures count(
            List<Intent> intents, Answers answers, List<OrderRow> orders, List<Charge> charges, List<UUID> invoices) {
        return Figures.count(intents, answers, orders, charges, invoices);
    }

    private static Answers answers(Intent intent, UUID order) {
        Answers answers = new Answers();
        answers.told(intent, order);
        return answers;
    }

    private static Answers answers(Intent first, UUID firstOrder, Intent second, UUID secondOrder) {
        Answers answers = answers(first, firstOrder);
        answers.told(second, secondOrder);
        return answers;
    }

    private static OrderRow row(UUID order, Intent intent) {
        return new OrderRow(order, intent.name());
    }

    private static Charge charge(String key, UUID order) {
        return new Charge("charge-" + key, key, new ChargeRequest(order, 100));
    }
}
