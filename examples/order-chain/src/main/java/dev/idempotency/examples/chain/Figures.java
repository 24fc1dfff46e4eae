package dev.idempotency.examples.chain;

import dev.idempotency.examples.chain.Database.OrderRow;
import dev.idempotency.examples.chain.PaymentProvider.Charge;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * The count at the end, from the rows of the database and the ledger of the provider alone.
 *
 * @param intents how many intents were sent
 * @param orders how many orders are in the database
 * @param charges how many charges are in the ledger
 * @param invoices how many invoices are in the database
 * @param duplicates how many orders, charges and invoices there are beyond the first, or for nothing
 * @param lost how many intents have no order, orders no charge of the right amount or no invoice, and answers no order
 * @param defects one line for each of them
 */
record Figures(int intents, int orders, int charges, int invoices, int duplicates, int lost, List<String> defects) {

    boolean good() {
        return duplicates == 0 && lost == 0;
    }

    static Figures count(
            List<Intent> intents, Answers answers, List<OrderRow> orders, List<Charge> charges, List<UUID> invoices) {
        return new Count().count(intents, answers, orders, charges, invoices);
    }

    private static final class Count {
        private final List<String> defects = new ArrayList<>();
        private int duplicates;
        private int lost;

        private Figures count(
                List<Intent> intents,
                Answers answers,
                List<OrderRow> orders,
                List<Charge> charges,
                List<UUID> invoices) {
            countOrders(intents, answers, orders);
            countWrongAmounts(intents, orders, charges);
            Map<UUID, Integer> chargesByOrder = new HashMap<>();
            charges.forEach(charge -> chargesByOrder.merge(charge.request().orderId(), 1, Integer::sum));
            Map<UUID, Integer> invoicesByOrder = new HashMap<>();
            invoices.forEach(orderId -> invoicesByOrder.merge(orderId, 1, Integer::sum));
            for (OrderRow order : orders) {
                countEffects(order, chargesByOrder, invoicesByOrder);
            }
            // What is left belongs to no order: money was taken, or asked for, for nothing.
            chargesByOrder.forEach((orderId, count) -> duplicate(count, "charged without an order: " + orderId));
            invoicesByOrder.forEach((orderId, count) -> duplicate(count, "invoiced without an order: " + orderId));
            return new Figures(
                    intents.size(),
                    orders.size(),
                    charges.size(),
                    invoices.size(),
                    duplicates,
                    lost,
                    List.copyOf(defects));
        }

        private void countOrders(List<Intent> intents, Answers answers, List<OrderRow> orders) {
            Map<String, Integer> byIntent = new HashMap<>();
            Map<UUID, String> intentOf = new HashMap<>();
            for (OrderRow order : orders) {
                byIntent.merge(order.intent(), 1, Integer::sum);
                intentOf.put(order.orderId(), order.intent());
            }
            for (Intent intent : intents) {
                int placed = Objects.requireNonNullElse(byIntent.remove(intent.name()), 0);
                if (placed == 0) {
                    lose(intent.name() + " has no order");
                } else if (placed > 1) {
                    duplicate(placed - 1, intent.name() + " was ordered " + placed + " times");
                }
                if (placed > 0 && answers.orders(intent).isEmpty()) {
                    lose(intent.name() + " was ordered, but its client was never told");
                }
                for (UUID told : answers.orders(intent)) {
                    String of = intentOf.get(told);
                    if (of == null) {
                        lose(intent.name() + " was answered with order " + told + ", which does not exist");
                    } else if (!of.equals(intent.name())) {
                        lose(intent.name() + " was answered with order " + told + ", which is that of " + of);
                    }
                }
            }
            byIntent.forEach((intent, placed) -> duplicate(placed, intent + " was ordered, and nobody meant to"));
        }

        private void countWrongAmounts(List<Intent> intents, List<OrderRow> orders, List<Charge> charges) {
            Map<String, Long> amounts = new HashMap<>();
            intents.forEach(intent -> amounts.put(intent.name(), intent.amountCents()));
            Map<UUID, Long> due = new HashMap<>();
            for (OrderRow order : orders) {
                Long amount = amounts.get(order.intent());
                if (amount != null) {
                    due.put(order.orderId(), amount);
                }
            }
            for (Charge charge : charges) {
                UUID orderId = charge.request().orderId();
                long amount = charge.request().amountCents();
                if (due.getOrDefault(orderId, amount) != amount) {
                    lose("order " + orderId + " was charged with " + amount + " and not with " + due.get(orderId));
                }
            }
        }

        private void countEffects(OrderRow order, Map<UUID, Integer> charges, Map<UUID, Integer> invoices) {
            int charged = charges.getOrDefault(order.orderId(), 0);
            charges.remove(order.orderId());
            int invoiced = invoices.getOrDefault(order.orderId(), 0);
            invoices.remove(order.orderId());
            String name = "order " + order.orderId() + " of " + order.intent();
            if (charged > 1) {
                duplicate(charged - 1, name + " was charged " + charged + " times");
            }
            if (invoiced > 1) {
                duplicate(invoiced - 1, name + " was invoiced " + invoiced + " times");
            }
            if (charged == 0) {
                lose(name + " was never charged");
            } else if (invoiced == 0) {
                lose(name + " was charged, but has no invoice");
            }
        }

        private void duplicate(int count, String defect) {
            duplicates += count;
            defects.add(defect);
        }

        private void lose(String defect) {
            lost++;
            defects.add(defect);
        }
    }
}
