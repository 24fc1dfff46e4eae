-- The tables of the two services. No unique constraint on intent or order_id: it would hide what the demo counts.
CREATE TABLE purchase_order (
    order_id     uuid        PRIMARY KEY,
    intent       text        NOT NULL,
    customer     text        NOT NULL,
    amount_cents bigint      NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE invoice (
    invoice_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id     uuid        NOT NULL,
    charge_id    text        NOT NULL,
    amount_cents bigint      NOT NULL
);

-- What the naive forms (guard=off) use instead of the library.
CREATE TABLE naive_response (
    request_key  text        PRIMARY KEY,
    body         bytea       NOT NULL
);

CREATE TABLE naive_outbox (
    sequence     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id     uuid        NOT NULL,
    order_id     uuid        NOT NULL,
    payload      bytea       NOT NULL,
    sent         boolean     NOT NULL DEFAULT false
);
